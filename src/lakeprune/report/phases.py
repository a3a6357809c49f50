"""The funnel of a report: what each rung of the ladder leaves of what the one before it left.

In: a report. Out: `Phase`s in order; what a phase drops is what is credited to its rung.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from lakeprune.formats.reads import Reads
from lakeprune.formats.row_groups.rung import ROW_GROUP
from lakeprune.predicate.tree import Constant
from lakeprune.predicate.walk import columns_of
from lakeprune.report.amount import NOTHING, Amount, percent
from lakeprune.report.buckets import EXACT_BUCKETS, Bucket
from lakeprune.report.model import CONSTANT_PHASE, ClauseReport, Confidence, Phase, PhaseReads, Report, joined
from lakeprune.report.verdict import CONSTANT, ROW_GROUPS
from lakeprune.skipping.ladder import Evidence, Level, Rung


def phases_of(report: Report) -> Iterator[Phase]:
    """Rung by rung, each only where the predicate has something for it."""
    numbers = report.numbers
    *rungs, last = report.facts.evidence.ladder
    constants = [c.clause.text for c in report.clauses if isinstance(c.clause.predicate, Constant)]
    rest = report.text_of(Bucket.STATS_SAFE, Bucket.UNSPLITTABLE)
    unknown = report.text_of(Bucket.NOT_EVALUATED)
    left = numbers.total
    if constants:
        after = left - numbers.credits[CONSTANT]
        yield _phase(CONSTANT_PHASE, joined(constants) or "", Confidence.EXACT, left, after)
        left = after
    file_reads = _io(report.reads, Level.FILE)
    for rung in rungs:
        if rung.level is Level.MANIFEST:
            if report.manifest_clauses or numbers.credits[rung.name] != NOTHING:
                after = left - numbers.credits[rung.name]
                yield _manifest_phase(report, rung, left, after)
                left = after
            continue
        own = [c.clause.text for c in report.clauses if _is_decided_by(c, rung, report.facts.evidence)]
        # A rung may also speak through a mixed clause, `p = 1 OR (p = 2 AND x > 5)`, when no clause is its own.
        if own or numbers.credits[rung.name] != NOTHING:
            is_exact = rung.is_exact and numbers.partition_is_exact
            after = left - numbers.credits[rung.name]
            exactness = Confidence.EXACT if is_exact else Confidence.CONSERVATIVE
            yield _phase(rung.phase, joined(own) or rest or unknown or "", exactness, left, after, file_reads)
            left, file_reads = after, None
    incomplete = report.confidence is Confidence.INCOMPLETE
    confidence = Confidence.INCOMPLETE if incomplete else Confidence.CONSERVATIVE
    after = numbers.kept + numbers.credits.get(ROW_GROUPS, NOTHING)
    if rest is not None or left != after:
        yield _phase(last.phase, rest or "(files without live rows)", confidence, left, after, file_reads)
    if (groups := report.row_groups) is not None:
        phase = _phase(ROW_GROUP.phase, rest or report.predicate or "", confidence, after, numbers.kept)
        before, left_groups = groups.total.row_groups, groups.kept.row_groups
        yield replace(phase, level=Level.ROW_GROUP, input_containers=before, output_containers=left_groups)


def _phase(
    name: str, predicate: str, confidence: Confidence, before: Amount, after: Amount, io: PhaseReads | None = None
) -> Phase:
    """A phase over files."""
    return Phase(
        name=name,
        predicate=predicate,
        input_files=before.files,
        output_files=after.files,
        pruned_files=before.files - after.files,
        pruning_pct=percent(before.files - after.files, before.files),
        confidence=confidence,
        input_bytes=before.bytes,
        output_bytes=after.bytes,
        input_files_without_bytes=before.files_without_bytes,
        output_files_without_bytes=after.files_without_bytes,
        input_rows=before.rows,
        output_rows=after.rows,
        level=Level.FILE,
        input_containers=before.files,
        output_containers=after.files,
        io=io,
    )


def _io(reads: Mapping[Level, Reads], level: Level) -> PhaseReads | None:
    found = reads.get(level)
    return None if found is None else PhaseReads(found.requests, found.bytes, round(found.seconds * 1000))


def _manifest_phase(report: Report, rung: Rung, before: Amount, after: Amount) -> Phase:
    text, io = joined(report.manifest_clauses) or "", _io(report.reads, rung.level)
    found = _phase(rung.phase, text, Confidence.CONSERVATIVE, before, after, io)
    above = report.numbers.manifests
    if above is None:
        return found
    left = above.total - above.credits.get(CONSTANT, 0)
    return replace(found, level=rung.level, input_containers=left, output_containers=above.kept)


def _is_decided_by(clause: ClauseReport, rung: Rung, evidence: Evidence) -> bool:
    columns = columns_of(clause.clause.predicate)
    is_own = clause.bucket in EXACT_BUCKETS if rung.is_exact else clause.bucket is Bucket.STATS_SAFE
    return is_own and bool(columns) and all(rung in evidence.rungs_of(column) for column in columns)
