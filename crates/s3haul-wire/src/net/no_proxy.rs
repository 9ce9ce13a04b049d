//! `NO_PROXY`: which hosts are reached without the proxy. Pure.
//!
//! What the AWS tools, `requests` and `curl` agree on: `*`, names with all names below them, a
//! port after any of these, addresses, and networks (`10.0.0.0/8`, `fd00::/8`). Addresses and
//! networks are compared with an endpoint that is an address; names are never resolved for it.

use std::net::IpAddr;

/// Whether a list, separated by commas or blanks, names a host.
pub(crate) fn is_exempt(list: &str, host: &str, port: u16) -> bool {
    let host = host.to_ascii_lowercase();
    list.split(|one: char| one == ',' || one.is_whitespace())
        .filter(|entry| !entry.is_empty())
        .any(|entry| is_named(&entry.to_ascii_lowercase(), &host, port))
}

fn is_named(entry: &str, host: &str, port: u16) -> bool {
    if entry == "*" {
        return true;
    }
    if let Some((network, length)) = entry.split_once('/') {
        return address(host).is_some_and(|host| is_within(network, length, host));
    }
    let (name, entry_port) = split_port(entry);
    if entry_port.is_some_and(|wanted| wanted != port) {
        return false;
    }
    if let (Some(named), Some(host)) = (address(name), address(host)) {
        return named == host;
    }
    let name = name.trim_start_matches("*.").trim_start_matches('.');
    !name.is_empty()
        && (host == name || host.strip_suffix(name).is_some_and(|before| before.ends_with('.')))
}

/// An entry's name or address, and the port where it has one.
fn split_port(entry: &str) -> (&str, Option<u16>) {
    match entry.rsplit_once(':') {
        // Not within an IPv6 address that is in no brackets.
        Some((name, digits)) if !name.contains(':') || name.ends_with(']') => {
            (name, digits.parse().ok())
        }
        _ => (entry, None),
    }
}

/// An address, in brackets or not; a zone (`%eth0`) says nothing here.
fn address(text: &str) -> Option<IpAddr> {
    let text = text.strip_prefix('[').map_or(text, |text| text.strip_suffix(']').unwrap_or(text));
    let address: IpAddr = text.split('%').next()?.parse().ok()?;
    Some(address.to_canonical())
}

/// Whether an address is in a network; never for what is no network.
fn is_within(network: &str, length: &str, host: IpAddr) -> bool {
    let Ok(length) = length.parse::<u32>() else { return false };
    let differing_bits = match (address(network), host) {
        (Some(IpAddr::V4(network)), IpAddr::V4(host)) if length <= 32 => {
            u64::from(network.to_bits() ^ host.to_bits()).leading_zeros() - 32
        }
        (Some(IpAddr::V6(network)), IpAddr::V6(host)) if length <= 128 => {
            (network.to_bits() ^ host.to_bits()).leading_zeros()
        }
        _ => return false,
    };
    differing_bits >= length
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_and_ports() {
        let table = [
            ("*", "a.test", true),
            ("a.test", "a.test", true),
            (" b.test , .a.test", "x.a.test", true),
            ("b.test .a.test", "x.a.test", true),
            ("a.test", "x.a.test", true),
            ("a.test", "xa.test", false),
            ("*.a.test", "x.a.test", true),
            ("a.test:80", "a.test", true),
            ("a.test:81", "a.test", false),
            ("", "a.test", false),
            (",,", "a.test", false),
            ("A.Test", "a.tesT", true),
        ];
        for (list, host, expected) in table {
            assert_eq!(is_exempt(list, host, 80), expected, "{list} {host}");
        }
    }

    #[test]
    fn addresses_and_networks() {
        let table = [
            ("127.0.0.1,::1", "::1", true),
            ("0:0:0:0:0:0:0:1", "::1", true),
            ("[::1]", "::1", true),
            ("[::1]:80", "::1", true),
            ("[::1]:81", "::1", false),
            ("10.1.2.3:80", "10.1.2.3", true),
            ("10.1.2.3:81", "10.1.2.3", false),
            ("::ffff:10.1.2.3", "10.1.2.3", true),
            ("10.0.0.0/8", "10.255.0.1", true),
            ("10.7.7.7/8", "10.255.0.1", true),
            ("10.0.0.0/8", "11.0.0.1", false),
            ("a.test, 192.168.4.0/23", "192.168.5.255", true),
            ("192.168.4.0/23", "192.168.6.0", false),
            ("10.1.2.3/32", "10.1.2.3", true),
            ("10.1.2.3/32", "10.1.2.2", false),
            ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "::1", false),
            ("fd00::/8", "fd12:3456::1", true),
            ("[fd00::]/8", "fd12:3456::1", true),
            ("fd00::/8", "fe80::1", false),
            ("fe80::/10", "fe80::1%eth0", true),
            // Not networks: they match no host.
            ("10.0.0.0/33", "10.0.0.0", false),
            ("10.0.0.0/", "10.0.0.0", false),
            ("10.0.0.0/-1", "10.0.0.0", false),
            ("10.0.0/8", "10.0.0.1", false),
            ("fd00::/129", "fd00::", false),
            // Names are not resolved.
            ("127.0.0.0/8", "localhost", false),
        ];
        for (list, host, expected) in table {
            assert_eq!(is_exempt(list, host, 80), expected, "{list} {host}");
        }
    }

    proptest! {
        #[test]
        fn a_network_holds_what_shares_its_first_bits(
            bits: u128, bits_v4: u32, flipped in 1..128_u32, length in 0..=128_u32,
        ) {
            let list = format!("{}/{length}", Ipv6Addr::from_bits(bits | 1 << 127));
            let host = Ipv6Addr::from_bits((bits | 1 << 127) ^ (1 << (127 - flipped)));
            prop_assert_eq!(is_exempt(&list, &host.to_string(), 443), flipped >= length);
            let (network, length) = (Ipv4Addr::from_bits(bits_v4), length.min(32));
            let flipped = flipped.min(31);
            let host = Ipv4Addr::from_bits(network.to_bits() ^ (1 << (31 - flipped)));
            let list = format!("{network}/{length}");
            prop_assert_eq!(is_exempt(&list, &host.to_string(), 443), flipped >= length);
        }
    }
}
