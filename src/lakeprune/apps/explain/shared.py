"""What a sharing server makes of a predicate, beside what the statistics that it sends allow.

In: a planner over a shared table, and a question. Out: a note, or nothing where the table is not shared.
"""

from __future__ import annotations

from lakeprune.formats.snapshot import Note
from lakeprune.planning.planner import Planner
from lakeprune.planning.question import Question
from lakeprune.report.amount import files_text


def server_note(planner: Planner, question: Question, kept: int) -> Note | None:
    """How many files the server offers for the hints of the predicate; `kept` is what its statistics allow."""
    storage = getattr(planner.snapshot, "storage", None)
    if question.text is None or "#" not in planner.facts.location or storage is None:
        return None
    from lakeprune.storage.sharing.storage import SharedStorage

    if not isinstance(storage, SharedStorage):
        return None
    from lakeprune.apps.sharing.hints.written import hints_of
    from lakeprune.storage.sharing.answer import ask

    hints = hints_of(question.text, planner.facts.schema, planner.profile)
    answer = ask(storage.client, storage.name, json_hints=hints.json)
    offered, total = len(answer.files), len(storage.answer.files)
    message = f"with the JSON hint of this predicate the server offers {offered} of {files_text(total)}"
    if offered > kept:
        message += f"; the statistics that it sends allow {kept}"
    if hints.omitted:
        message += f"; the hint does not express {', '.join(f'`{part.text}`' for part in hints.omitted[:3])}"
    return Note("shared_server", message)
