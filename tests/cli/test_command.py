"""The command from outside: exit codes, stdout whole or empty, errors in words, never a traceback for a user's mistake."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lakeprune.cli.main import main
from tests.builders import delta

COMMAND = [sys.executable, "-m", "lakeprune"]
WHERE = "country = 'DE' AND age > 40"


@pytest.fixture(scope="module")
def users(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(delta.users(tmp_path_factory.mktemp("cli") / "users"))


def outcome(argv: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(argv)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    return code, shown.out, shown.err


def test_the_installed_module_runs(users: str) -> None:
    done = subprocess.run([*COMMAND, "explain", users, "-w", WHERE], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Total reduction: 6 -> 1 files (83% pruned)" in done.stdout.splitlines()


def test_a_failed_gate_exits_1_with_the_document_on_stdout_and_the_words_on_stderr(users: str) -> None:
    command = [*COMMAND, "explain", users, "-w", "age > 30", "--format", "json", "--min-pruning", "90", "--max-files", "2"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "ASSERTION FAILED: total pruning 16.7% is below threshold 90.0%",
        "ASSERTION FAILED: 5 file(s) to read are above the limit of 2",
    ]
    assert json.loads(done.stdout)["result"] == "fail"


def test_a_limit_of_zero_is_a_limit(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["explain", users, "-w", WHERE, "--max-files", "0"], capsys)[0] == 1
    assert outcome(["explain", users, "-w", WHERE, "--max-bytes", "0"], capsys)[0] == 1
    assert outcome(["explain", users, "-w", "age > 99", "--max-files", "0", "--min-pruning", "0"], capsys)[0] == 0


def test_a_reader_that_leaves_early_is_no_error(users: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*COMMAND, "explain", users, "-w", WHERE]
    done = subprocess.run(command, check=False, stdout=writing, stderr=subprocess.PIPE, text=True)
    gated = subprocess.run([*command, "--max-files", "0"], check=False, stdout=writing, stderr=subprocess.PIPE, text=True)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
    assert gated.returncode == 1  # the gate failed whoever reads


def test_a_full_disk_is_reported() -> None:
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([*COMMAND, "--help"], check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert "error[LP217] cannot write to stdout" in done.stderr


def test_an_interrupt_exits_130() -> None:
    program = (
        "import os, signal, lakeprune.cli.explain as command; from lakeprune.cli.main import main;"
        "signal.signal(signal.SIGINT, signal.default_int_handler);"  # a shell starts what runs in its background deaf to it
        "command.run = lambda *argv: os.kill(os.getpid(), signal.SIGINT) or __import__('time').sleep(9);"
        "raise SystemExit(main(['explain']))"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (128 + signal.SIGINT, "interrupted\n")


def test_a_defect_shows_its_traceback_and_asks_for_a_report() -> None:
    program = (
        "import sys, lakeprune.cli.explain as command; from lakeprune.cli.main import entry_point;"
        "command.run = lambda *argv: 1 // 0; sys.argv[1:] = ['explain']; entry_point()"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr
    assert "please report it" in done.stderr


@pytest.mark.parametrize("argv", [[], ["--help"], ["help"], ["explain", "--help"]])
def test_help_has_an_example(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(argv, capsys)
    assert (code, err) == (0, "")
    assert 'lakeprune explain ./users -w "country' in out


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert (
        outcome(["--version"], capsys) == outcome(["version"], capsys) == (0, f"lakeprune {project['project']['version']}\n", "")
    )


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        (["explian"], "did you mean explain?"),
        (["zzz"], "the commands are: explain"),
        (["--where", "x"], "put options after the command"),
        (["explain"], "TABLE"),
        (["explain", "{users}", "-w"], "--where needs a value"),
        (["explain", "{users}", "-w", "--format", "text"], "--where needs a value"),
        (["explain", "{users}", "--fromat", "json"], "did you mean --format?"),
        (["explain", "{users}", "--format", "xml"], "`xml` is not one of its values"),
        (["explain", "{users}", "--at-version", "-1"], "--at-version"),
        (
            ["explain", "{users}", "--at-version", "1", "--at-timestamp", "2024-01-01"],
            "--at-timestamp and --at-version do not go together",
        ),
        (["explain", "{users}", "--at-timestamp", "yesterday"], "`yesterday` is not a point in time"),
        (["explain", "{users}", "--now", "later", "-w", "age > 1"], "`later` is not a point in time"),
        (["explain", "{users}", "--timezone", "Mars/Olympus", "-w", "age > 1"], "`Mars/Olympus` is not a time zone"),
        (["explain", "{users}", "--min-pruning", "50"], "needs a predicate"),
        (["explain", "{users}", "-w", "age > 1", "--min-pruning", "101"], "--min-pruning"),
        (["explain", "{users}", "-w", "age > 1", "--min-pruning", "nan"], "--min-pruning"),
        (["explain", "{users}", "-w", "age > 1", "--max-bytes", "3XB"], "--max-bytes"),
        (["explain", "{users}", "-w", "age > 1", "--max-files", "1.5"], "--max-files"),
        (["explain", "{users}", "-w", "agee > 1"], "did you mean"),
        (["explain", "{users}", "-w", "age > 'x'"], "age"),
        (["explain", "{users}", "-w", "age >"], "error[LP1"),
        (["explain", "{users}", "-w", ""], "error[LP1"),
        (["explain", "{users}", "-w", "age > 1\0"], "error[LP1"),
        (["explain", "{users}", "-w", "age > (SELECT 1)"], "error[LP1"),
        (["explain", "{users}", "-w", "name = '\udcff'"], "error[LP1"),
        (["explain", "{users}", "-w", "(" * 10_000 + "age > 1" + ")" * 10_000], "error[LP1"),
        (["explain", "{users}", "-w", "age > 1", "--output", "/nowhere/at/all.txt"], "cannot write /nowhere/at/all.txt"),
    ],
)
def test_a_usage_or_predicate_error_exits_2_and_says_what_to_do(
    argv: list[str], words: str, users: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = outcome([argument.replace("{users}", users) for argument in argv], capsys)
    assert (code, out) == (2, "")
    assert err.startswith("error[LP")
    assert words in err


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("{tmp}/missing", "missing"),
        ("{tmp}", "{tmp}"),
        ("{tmp}/file", "file"),
        ("{tmp}/no-commits", "no-commits"),
        ("{tmp}/broken", "broken"),
        ("{tmp}/future", "reader"),
        ("", "error[LP3"),
        ("{tmp}/nul\0", "error[LP3"),
        ("{tmp}/" + "x" * 5000, "error[LP3"),
    ],
)
def test_a_table_that_cannot_be_read_exits_3(table: str, words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("no table")
    (tmp_path / "no-commits" / "_delta_log").mkdir(parents=True)
    delta.write_log(tmp_path / "broken", [[delta.protocol(), delta.metadata({"age": "integer"})]])
    (tmp_path / "broken" / "_delta_log" / f"{1:020d}.json").write_text('{"add": {"path"\n')
    delta.write_log(tmp_path / "future", [[delta.protocol(99, 99), delta.metadata({"age": "integer"})]])
    code, out, err = outcome(["explain", table.replace("{tmp}", str(tmp_path)), "-w", "age > 1"], capsys)
    assert (code, out) == (3, "")
    assert err.startswith("error[LP3")
    assert words.replace("{tmp}", str(tmp_path)) in err


@pytest.mark.parametrize(
    "flag", [["-w", "-age < -40"], ["-w", "-age<-40"], ["--where", "-age<-40"], ["-w-age<-40"], ["--where=-age<-40"]]
)
def test_a_predicate_may_begin_with_a_minus(flag: list[str], users: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(["explain", users, *flag, "--format", "json"], capsys)
    assert code == 0
    assert json.loads(out)["final_files"] == 3


def test_a_predicate_that_looks_like_a_flag_of_ours_is_still_a_predicate(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = outcome(["explain", users, "-w", "-v < 5"], capsys)
    assert code == 2
    assert "`v`" in err  # an unknown column, not a flag


def test_output_writes_the_file_whole_and_nothing_to_stdout(
    users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")
    code, out, _ = outcome(["explain", users, "-w", WHERE, "--format", "json", "--output", str(target)], capsys)
    assert (code, out) == (0, "")
    assert json.loads(target.read_text(encoding="utf-8"))["final_files"] == 1
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_an_error_leaves_an_existing_output_file_alone(users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")
    assert outcome(["explain", users, "-w", "nope > 1", "--output", str(target)], capsys)[0] == 2
    assert target.read_text() == "old"


def test_output_to_a_device_does_not_replace_it(users: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert outcome(["explain", users, "-w", WHERE, "--output", os.devnull], capsys)[0] == 0
    assert not Path(os.devnull).is_file()


def test_control_characters_never_reach_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stats = delta.statistics(1, name=("\x1b[31m", "\x1b[31m", 0))
    log = [delta.protocol(), delta.metadata({"name": "string"}), delta.add("a\x1b]0;x.parquet", stats=stats)]
    table = delta.write_log(tmp_path / "t", [log])
    code, out, _ = outcome(["explain", str(table), "-w", "name = '\x1b[31m'", "-v"], capsys)
    assert code == 0
    assert "\x1b" not in out


def test_text_that_the_terminal_cannot_show_is_escaped(users: str) -> None:
    command = [*COMMAND, "explain", users, "-w", "name = 'ü€😀'"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, check=False, capture_output=True, env=environment)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"name = '\\xfc\\u20ac\\U0001f600'" in done.stdout


def test_importing_the_package_imports_nothing_heavy() -> None:
    program = "import sys, lakeprune; print([m for m in ('duckdb', 'sqlglot', 'argparse', 're', 'json') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-S", "-c", program], check=False, capture_output=True, text=True, env={"PYTHONPATH": "src"}
    )
    assert done.stdout == "[]\n", done.stderr


def test_a_predicate_is_read_from_a_file(users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ages = tmp_path / "ages.sql"
    ages.write_text(f"age IN ({', '.join(str(100 + i) for i in range(100_000))})", encoding="utf-8")
    code, shown, errors = outcome(["explain", users, "-w", f"@{ages}"], capsys)
    assert (code, errors) == (0, "")
    assert "Total reduction: 6 -> 0 files (100% pruned)" in shown.splitlines()


def test_a_predicate_file_that_is_missing_or_not_text_is_a_usage_error(
    users: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    binary = tmp_path / "binary"
    binary.write_bytes(b"\xff\xfe\x00")
    for source in (tmp_path / "missing", tmp_path, binary):
        code, shown, errors = outcome(["explain", users, "-w", f"@{source}"], capsys)
        assert (code, shown) == (2, "")
        assert "error[LP204]" in errors


def test_a_link_stays_and_the_file_that_it_leads_to_is_written(users: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("file")
    assert main(["explain", users, "--output", str(tmp_path / "link")]) == 0
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text().startswith("Reads all 6 files")


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors have no path here")
@pytest.mark.parametrize("command", [["explain", "--metrics-file"], ["plan", "--format", "parquet", "--output"]])
def test_a_link_to_stdout_stays_when_stdout_is_a_file(users: str, tmp_path: Path, command: list[str]) -> None:
    """As /dev/stdout is, over which who may write there would rename a file."""
    stdout, link = tmp_path / "stdout", tmp_path / "link"
    link.symlink_to("/proc/self/fd/1")
    with stdout.open("wb") as file:
        subprocess.run([*COMMAND, command[0], users, *command[1:], str(link)], check=True, stdout=file)
    assert link.is_symlink()
    written = stdout.read_bytes()
    assert written.startswith(b"PAR1") or (b"Reads all 6 files" in written and b"# EOF" in written)
