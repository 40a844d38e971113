"""Which addresses a server may be asked to speak to: public ones, looked at through every wrapping of another."""

from collections.abc import Iterable, Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
NAT64 = IPv6Network("64:ff9b::/96")
NAT64_LOCAL = IPv6Network("64:ff9b:1::/48")
COMPATIBLE = IPv6Network("::/96")  # IPv4-compatible, long deprecated
ISATAP = frozenset({0x00005EFE, 0x02005EFE})


def address_of(text: str) -> Address:
    """Return an address as a resolver writes it, without its zone. Raises ValueError."""
    return ip_address(text.partition("%")[0])


def networks_of(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return networks in CIDR notation. Raises ValueError for one that is none."""
    return tuple(ip_network(text.strip()) for text in texts if text.strip())


def wrapped(address: Address) -> Iterator[Address]:
    """Yield the address, and those that are wrapped in it: a packet to it may end at any of them."""
    yield address
    if isinstance(address, IPv4Address):
        return
    inner: list[IPv4Address] = []
    if address.ipv4_mapped is not None:
        inner.append(address.ipv4_mapped)
    if address.sixtofour is not None:
        inner.append(address.sixtofour)
    if address.teredo is not None:
        inner += address.teredo
    low = int(address) & 0xFFFFFFFF
    if address in NAT64 or address in COMPATIBLE or (int(address) >> 32) & 0xFFFFFFFF in ISATAP:
        inner.append(IPv4Address(low))
    yield from inner


def is_public(address: Address) -> bool:
    """Tell whether the address, and each one wrapped in it, is one of the public internet."""
    if isinstance(address, IPv6Address) and address in NAT64_LOCAL:
        return False
    return all(_is_public(each) for each in wrapped(address))


def _is_public(address: Address) -> bool:
    if address.is_multicast or address.is_unspecified or address.is_loopback or address.is_link_local:
        return False
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None or address in NAT64:
            return True  # neither is global by itself; what is wrapped in it is looked at on its own
        if address.is_site_local:
            return False
    return address.is_global and not address.is_reserved


def is_allowed(address: Address, networks: Iterable[Network]) -> bool:
    """Tell whether an operator has allowed the address, or the one that is mapped into it, by a network."""
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return any(each in network for network in networks for each in (address, mapped) if each is not None)
