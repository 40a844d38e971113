"""The history of an organization, scraped with a token of it."""

from typing import Any

import pytest

from tests.api.conftest import Api, Tenants, api, history, tenants
from tests.api.history import History
from tests.metrics.reading import Samples, samples

__all__ = ["api", "history", "tenants"]


@pytest.fixture
def scraped(api: Api, history: History) -> "Scraper":
    return Scraper(api)


class Scraper:
    """Scrapes with a token of the organization, unless another one is shown."""

    def __init__(self, api: Api) -> None:
        self.api = api
        self.tenants: Tenants = api.tenants
        self.token = api.token("metrics")

    def text(self, token: str = "", **headers: str) -> Any:
        headers["Authorization"] = f"Bearer {token or self.token}"
        return self.api.client.get("/v1/goodput/metrics", headers=headers)

    def samples(self, token: str = "") -> Samples:
        response = self.text(token)
        assert response.status_code == 200, response.content
        return samples(response.content.decode())
