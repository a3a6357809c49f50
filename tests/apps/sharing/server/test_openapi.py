"""The published interface, held to it by requests that schemathesis makes from it: no 500, and answers of the declared shape."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import content_type_conformance, response_schema_conformance, status_code_conformance

from lakeprune.apps.sharing.server.openapi import document
from tests.apps.sharing.server.served import Served
from tests.scope import IS_WHOLE

SCHEMA = schemathesis.openapi.from_dict(document())


@SCHEMA.parametrize()
@settings(max_examples=200 if IS_WHOLE else 12, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
def test_every_request_of_the_description_is_answered_as_described(case: schemathesis.Case[Any], served: Served) -> None:
    # Names that exist, half of the time: otherwise every answer is a 404.
    known = {"share": "share1", "schema": "s", "table": "part"}
    if len(str(case.path_parameters)) % 2:
        case.path_parameters = {name: known[name] for name in case.path_parameters or {}}
    served.service.requests._levels.clear()
    served.service.failures._levels.clear()
    headers = {"Authorization": f"Bearer {served.tokens['reader']}"}
    answer = case.call(base_url=served.endpoint, headers=headers)
    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    case.validate_response(answer, checks=checks)


def test_the_description_is_served(served: Served) -> None:
    assert served.get("/openapi.json", who=None).json == document()


def test_the_description_has_every_route_and_no_other() -> None:
    from lakeprune.apps.sharing.server.app import ROUTES

    described = {(method.upper(), path) for path, operations in document()["paths"].items() for method in operations}
    assert described == {(method, path) for method, path, _ in ROUTES}
