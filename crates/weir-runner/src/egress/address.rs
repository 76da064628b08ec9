//! Classifies addresses. Invariant: an address that embeds another is judged by the embedded one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, UdpSocket};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AddressClass {
    /// A public address on the internet.
    Public,
    /// Not public, with the reason. Allowed only if a pattern names the address.
    Private(&'static str),
    /// This machine, with the reason. Allowed only if a pattern names the address and the port.
    Own(&'static str),
    /// Never allowed, with the reason.
    Never(&'static str),
}

/// Metadata services, where clouds hand out the credentials of a machine. Some of these addresses look public.
const METADATA: [IpAddr; 6] = [
    IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254)),
    IpAddr::V4(Ipv4Addr::new(168, 63, 129, 16)),
    IpAddr::V4(Ipv4Addr::new(100, 100, 100, 200)),
    IpAddr::V4(Ipv4Addr::new(192, 0, 0, 192)),
    IpAddr::V6(Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254)),
    IpAddr::V6(Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254)),
];

pub(super) fn classify(address: IpAddr) -> AddressClass {
    let address = canonical(address);
    if METADATA.contains(&address) {
        return AddressClass::Never("a cloud's metadata service");
    }
    let class = match address {
        IpAddr::V4(address) => classify_v4(address),
        IpAddr::V6(address) => classify_v6(address),
    };
    if class == AddressClass::Public && is_own(address) {
        AddressClass::Own("an address of this machine")
    } else {
        class
    }
}

/// Converts an IPv4-mapped IPv6 address to the IPv4 address that it spells.
pub(super) fn canonical(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V6(v6) => v6.to_ipv4_mapped().map_or(address, IpAddr::V4),
        IpAddr::V4(_) => address,
    }
}

fn classify_v4(address: Ipv4Addr) -> AddressClass {
    match address.octets() {
        [0, ..] => AddressClass::Never("an unspecified address"),
        [127, ..] => AddressClass::Own("a loopback address"),
        [169, 254, ..] => AddressClass::Never("a link-local address"),
        [224..=239, ..] => AddressClass::Never("a multicast address"),
        [240..=255, ..] => AddressClass::Never("a reserved address"),
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressClass::Private("a private address"),
        [100, 64..=127, ..] => AddressClass::Private("a carrier-grade NAT address"),
        [192, 0, 0, _] | [198, 18..=19, ..] => AddressClass::Private("an address for special use"),
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => AddressClass::Private("an address for documentation"),
        _ => AddressClass::Public,
    }
}

fn classify_v6(address: Ipv6Addr) -> AddressClass {
    match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressClass::Never("an unspecified address"),
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Own("a loopback address"),
        // An embedded IPv4 address: in the last 32 bits (an old form, and NAT64), or in the second and third part
        // (6to4).
        [0, 0, 0, 0, 0, 0, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] | [0x2002, high, low, ..] => {
            classify_embedded(high, low)
        }
        [0x64, 0xff9b, 1, ..] => AddressClass::Never("an address of a local translation to IPv4"),
        [0x2001, 0, ..] => AddressClass::Never("an address of a Teredo tunnel"),
        [0xfe80..=0xfebf, ..] | [0xfec0..=0xfeff, ..] => AddressClass::Never("a link-local address"),
        [0xff00..=0xffff, ..] => AddressClass::Never("a multicast address"),
        [0xfc00..=0xfdff, ..] => AddressClass::Private("a private address"),
        [0x100, 0, 0, 0, ..] | [0x2001, 0xdb8, ..] => AddressClass::Private("an address for special use"),
        _ => AddressClass::Public,
    }
}

/// Classifies an embedded IPv4 address. No pattern can name it in this form, so it is refused unless it is public.
fn classify_embedded(high: u16, low: u16) -> AddressClass {
    let bits = (u32::from(high) << 16) | u32::from(low);
    match classify(IpAddr::V4(Ipv4Addr::from_bits(bits))) {
        AddressClass::Public => AddressClass::Public,
        AddressClass::Private(reason) | AddressClass::Own(reason) | AddressClass::Never(reason) => {
            AddressClass::Never(reason)
        }
    }
}

/// Returns whether the address belongs to this machine: sockets can only be bound to such addresses.
///
/// Some systems allow binding to any address. On those, an address counts as ours if packets to it would be sent from
/// it, which misses a second address on the same interface.
fn is_own(address: IpAddr) -> bool {
    let foreign: IpAddr = if address.is_ipv4() {
        IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1))
    } else {
        IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1))
    };
    let binds = |address: IpAddr| UdpSocket::bind((address, 0)).is_ok();
    if !binds(address) {
        return false;
    }
    if !binds(foreign) {
        return true;
    }
    let any: IpAddr = if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
    let source = UdpSocket::bind((any, 0)).and_then(|socket| {
        socket.connect((address, 9))?;
        socket.local_addr()
    });
    source.is_ok_and(|source| source.ip() == address)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(addresses: &str, expected: fn(&'static str) -> AddressClass) {
        for text in addresses.split_whitespace() {
            let found = classify(text.parse().unwrap());
            let reason = match found {
                AddressClass::Public => "",
                AddressClass::Private(reason) | AddressClass::Own(reason) | AddressClass::Never(reason) => reason,
            };
            assert_eq!(found, expected(reason), "{text}");
        }
    }

    #[test]
    fn the_internet_is_public() {
        check("1.1.1.1 93.184.216.34 172.15.0.1 172.32.0.1 100.63.0.1 100.128.0.1", |_| AddressClass::Public);
        check("2606:4700::1111 ::ffff:1.1.1.1 64:ff9b::101:101 2002:101:101::1", |_| AddressClass::Public);
    }

    #[test]
    fn networks_of_ones_own_are_private() {
        check("10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1 100.64.0.1 198.18.0.1", AddressClass::Private);
        check("fc00::1 fd12:3456::1 ::ffff:10.0.0.1", AddressClass::Private);
    }

    #[test]
    fn this_machine_is_own() {
        assert!(is_own(Ipv4Addr::LOCALHOST.into()));
        assert!(!is_own(Ipv4Addr::new(1, 1, 1, 1).into()));
        check("127.0.0.1 127.255.0.1 ::1 ::ffff:127.0.0.1", AddressClass::Own);
    }

    #[test]
    fn what_nobody_needs_is_never_reached() {
        check(
            "0.0.0.0 0.1.2.3 169.254.1.1 169.254.169.254 224.0.0.1 239.1.1.1 240.0.0.1 255.255.255.255",
            AddressClass::Never,
        );
        check("168.63.129.16 100.100.100.200 192.0.0.192 fd00:ec2::254 fd20:ce::254", AddressClass::Never);
        check("::ffff:169.254.169.254 ::ffff:0.0.0.0 64:ff9b::169.254.169.254 64:ff9b::127.0.0.1", AddressClass::Never);
        check(
            "64:ff9b::10.0.0.1 64:ff9b:1::1 2002:7f00:1::1 2002:a00:1:: ::127.0.0.1 2001:0:1::1",
            AddressClass::Never,
        );
        check(":: fe80::1 febf::1 fec0::1 ff02::1", AddressClass::Never);
    }
}
