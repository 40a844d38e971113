"""Where a webhook may lead to: sixty ways to write an address that must not be reached, and a few that may."""

import socket
from typing import Any

import pytest

from ledger.core.addresses import address_of, is_public
from ledger.notify.http import check, split, target_of
from ledger.notify.message import NotSent, Setup

NEVER = sorted(
    {
        *("127.0.0.1", "127.1", "127.255.255.254", "0.0.0.0", "0", "2130706433", "0x7f000001", "0x7f.1", "localhost"),
        *("017700000001", "0177.0.0.1", "127.0.1", "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.255.255"),
        *("192.168.0.1", "192.168.1.1", "0xc0a80101", "3232235777", "169.254.169.254", "169.254.0.1", "0xa9fea9fe"),
        *("2852039166", "100.64.0.1", "100.127.255.254", "192.0.0.1", "192.0.2.1", "198.18.0.1", "198.51.100.1"),
        *("203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255", "[::1]", "[::]"),
        *("[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[0:0:0:0:0:ffff:10.0.0.1]", "[::ffff:169.254.169.254]"),
        *("[::127.0.0.1]", "[::7f00:1]", "[fe80::1]", "[fec0::1]", "[fc00::1]", "[fd00:ec2::254]", "[fdff::1]"),
        *("[ff02::1]", "[ff0e::1]", "[64:ff9b::7f00:1]", "[64:ff9b::10.0.0.1]", "[64:ff9b::a9fe:a9fe]"),
        *("[64:ff9b:1::1]", "[2002:7f00:1::]", "[2002:a00:1::1]", "[2002:c0a8:101::1]", "[2001:db8::1]", "[100::1]"),
        *("[2001:0:4136:e378:8000:63bf:80ff:fffe]", "[2001:0:7f00:1::]", "[2001:10::1]"),
        *("[2606:4700::5efe:7f00:1]", "[2606:4700::200:5efe:10.0.0.1]"),
    }
)
PUBLIC = ["93.184.216.34", "1.1.1.1", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101", "2002:101:101::"]


def test_there_are_sixty_of_them() -> None:
    assert len(set(NEVER)) >= 60


@pytest.mark.parametrize("host", NEVER)
def test_no_form_of_a_private_address_is_reached(host: str) -> None:
    with pytest.raises(NotSent):
        target_of(f"https://{host}/hook", Setup())


@pytest.mark.parametrize("host", NEVER)
def test_no_form_of_a_private_address_is_taken_down(host: str) -> None:
    with pytest.raises(NotSent, match="not a public one"):
        check(f"https://{host}/hook", Setup())
    with pytest.raises(NotSent, match="not a public one"):
        check(f"https://{host}/hook", Setup(networks=("10.77.0.0/16",)))


@pytest.mark.parametrize(
    ("url", "networks"),
    [
        ("https://93.184.216.34/hook", ()),
        ("https://[2606:4700:4700::1111]:8443/hook", ()),
        ("https://hooks.example/hook", ()),
        ("http://10.1.2.3:9000/hook", ("10.1.0.0/16",)),
        ("http://hooks.internal:9000/hook", ("10.1.0.0/16",)),
    ],
)
def test_what_may_be_reached_is_taken_down_and_nobody_is_asked_for_a_name(
    url: str, networks: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo

    def only_numbers(*args: Any, flags: int = 0, **more: Any) -> Any:
        assert flags & socket.AI_NUMERICHOST, "no name is looked up"
        return real(*args, flags=flags, **more)

    monkeypatch.setattr(socket, "getaddrinfo", only_numbers)
    check(url, Setup(networks=networks))


@pytest.mark.parametrize("text", PUBLIC)
def test_a_public_address_is_one(text: str) -> None:
    assert is_public(address_of(text))
    assert str(target_of("https://hooks.example/x", Setup(), lambda *_: [text]).address) == str(address_of(text))


@pytest.mark.parametrize(
    "addresses", [["93.184.216.34", "127.0.0.1"], ["10.0.0.1", "93.184.216.34"], ["93.184.216.34", "::1"], []]
)
def test_every_address_of_a_name_must_be_public(addresses: list[str]) -> None:
    with pytest.raises(NotSent):
        target_of("https://hooks.example/x", Setup(), lambda *_: addresses)


@pytest.mark.parametrize(
    ("network", "address", "allowed"),
    [
        ("10.1.0.0/16", "10.1.2.3", True),
        ("10.1.0.0/16", "::ffff:10.1.2.3", True),
        ("10.1.0.0/16", "10.2.0.1", False),
        ("fd00::/8", "fd00::1", True),
        ("10.1.0.0/16", "64:ff9b::a01:203", False),
    ],
)
def test_an_operator_allows_a_network(network: str, address: str, allowed: bool) -> None:
    setup = Setup(networks=(network,))
    if allowed:
        assert target_of("http://inside:8080/x", setup, lambda *_: [address]).port == 8080
    else:
        with pytest.raises(NotSent):
            target_of("http://inside:8080/x", setup, lambda *_: [address])


@pytest.mark.parametrize(
    "url",
    [
        "http://hooks.example/", "https://hooks.example:22/", "https://hooks.example:25/", "ftp://hooks.example/",
        "file:///etc/passwd", "gopher://hooks.example/", "https://user@hooks.example/", "https://u:p@hooks.example/",
        "https://", "https:///x", "hooks.example", "https://hooks.example:x/", "https://hooks.example:99999/",
        "https://hooks.example/\r\nHost: x", "https://hooks .example/", "https://hooks.example\\@127.0.0.1/", "",
        "https://[::1", "https://hooks.example/" + "x" * 2_000, "javascript:alert(1)", "//hooks.example/",
    ],
)  # fmt: skip
def test_what_an_address_must_not_be(url: str) -> None:
    with pytest.raises(NotSent):
        target_of(url, Setup(), lambda *_: ["93.184.216.34"])


@pytest.mark.parametrize(
    "url", ["https://hooks.example/x?y=1", "https://hooks.example:8443/x", "https://hooks.example"]
)
def test_what_it_may_be(url: str) -> None:
    assert split(url).hostname == "hooks.example"
    assert target_of(url, Setup(), lambda *_: ["93.184.216.34"]).host == "hooks.example"


def test_a_name_that_is_not_one_or_not_known() -> None:
    def unknown(*_: object) -> list[str]:
        raise OSError

    with pytest.raises(NotSent, match="cannot be resolved") as why:
        target_of("https://nowhere.example/", Setup(), unknown)
    assert not why.value.for_good
    with pytest.raises(NotSent):
        target_of(f"https://{'a' * 64}.example/", Setup())
