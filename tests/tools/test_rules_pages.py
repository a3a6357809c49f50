"""The pages in docs/rules are those that the code makes."""

from __future__ import annotations

from tools.generate_rules import TARGET, pages


def test_rule_pages_are_up_to_date() -> None:
    found = {path.name: path.read_text(encoding="utf-8") for path in TARGET.glob("*.md")}
    assert found == pages(), "run `make schema`"


def test_every_executed_case_is_on_its_page() -> None:
    assert "| DROP    | in the gap, never the hull" in pages()["membership.md"]
