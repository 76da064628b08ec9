//! The two ends of a connection, and whether a process of this user is at the other one. The kernel knows the owner of
//! every socket. Invariant: what cannot be found out counts as no.

use std::net::{IpAddr, SocketAddr};

/// The tables of the kernel that have the connections of this machine.
const TABLES: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];
/// The columns of these tables: the address of a socket, the address it is connected to, the user that owns it, and its
/// inode.
const COLUMNS: [usize; 4] = [1, 2, 7, 9];
/// The inode of a socket that its process has closed. Until the connection has ended, the kernel lists such a socket as
/// root's, even if another user opened it.
const NO_INODE: &str = "0";

/// What counts as one address: an IPv4 address, or the first 64 bits of an IPv6 address, since one machine has all of
/// the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    Unknown,
    V4([u8; 4]),
    V6(u64),
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => Self::V6((u128::from(address) >> 64) as u64),
        }
    }
}

/// The two ends of a connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    pub client: SocketAddr,
    /// The address by which the client reached the server.
    pub server: SocketAddr,
}

impl Peer {
    /// Whether the client is a process of the user that runs the server, on the same machine.
    pub fn is_this_user(&self) -> bool {
        let Some(own) = weir_host::os::user_id() else { return false };
        let has_own = |table: &str| {
            std::fs::read_to_string(table).is_ok_and(|table| self.owners(&table).any(|owner| owner == own))
        };
        self.client.ip().to_canonical().is_loopback() && TABLES.into_iter().any(has_own)
    }

    /// Returns the owners of the client's end in a table. A connection has one such end, or none once the client has
    /// closed it.
    fn owners<'a>(&self, table: &'a str) -> impl Iterator<Item = u32> + use<'a> {
        let (client, server) = (written(self.client), written(self.server));
        table.lines().filter_map(move |line| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let [local, remote, owner, inode] = COLUMNS.map(|column| columns.get(column).copied().unwrap_or(NO_INODE));
            let is_it = client.iter().any(|client| client == local) && server.iter().any(|server| server == remote);
            if is_it && inode != NO_INODE { owner.parse().ok() } else { None }
        })
    }
}

/// Returns an address in the forms that the tables have: numbers in the order of the machine's bytes.
fn written(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    let number = |bytes: &[u8]| {
        let bytes: [u8; 4] = bytes.try_into().unwrap_or_default();
        format!("{:08X}", u32::from_ne_bytes(bytes))
    };
    let long = |octets: [u8; 16]| format!("{}:{port:04X}", octets.chunks(4).map(number).collect::<String>());
    match address.ip().to_canonical() {
        IpAddr::V4(ip) => vec![format!("{}:{port:04X}", number(&ip.octets())), long(ip.to_ipv6_mapped().octets())],
        IpAddr::V6(ip) => vec![long(ip.octets())],
    }
}

#[cfg(test)]
mod network_tests {
    use super::*;

    #[test]
    fn an_address_is_all_of_ipv4_and_half_of_ipv6() {
        let network = |address: &str| Network::from(address.parse::<IpAddr>().unwrap());
        for (one, other, are_same) in [
            ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false),
            ("192.0.2.1", "::ffff:192.0.2.1", true),
            ("2001:db8:1:2::1", "2001:db8:1:2:ffff::9", true),
            ("2001:db8:1:2::1", "2001:db8:1:3::1", false),
        ] {
            assert_eq!(network(one) == network(other), are_same, "{one} {other}");
        }
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn check(listen: &str) {
        let listener = TcpListener::bind(listen).unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (accepted, client) = listener.accept().unwrap();
        let peer = Peer { client, server: accepted.local_addr().unwrap() };
        assert!(peer.is_this_user(), "{peer:?}");
        let other_way = Peer { client: peer.server, server: SocketAddr::new(client.ip(), 1) };
        assert!(!other_way.is_this_user(), "there is no such connection: {other_way:?}");
        drop(stream);
    }

    #[test]
    fn a_connection_of_this_process_is_one_of_this_user() {
        check("127.0.0.1:0");
    }

    /// Returns a row of a table, for a socket that is connected to port 4747.
    fn row(address: &str, owner: u32) -> String {
        format!("   1: {address} 0100007F:128B 01 00000000:00000000 00:00000000 00000000  {owner}        0 42 1 0\n")
    }

    #[test]
    fn a_connection_that_the_client_has_closed_is_nobodys() {
        let peer = Peer { client: "127.0.0.1:40000".parse().unwrap(), server: "127.0.0.1:4747".parse().unwrap() };
        let open = row("0100007F:9C40", 0);
        // The kernel forgets who opened a socket: the user and the inode are 0.
        let closed = open.replace(" 01 ", " 05 ").replace(" 42 ", " 0 ");
        if cfg!(target_endian = "little") {
            assert_eq!(peer.owners(&open).collect::<Vec<_>>(), [0]);
        }
        assert_ne!(closed, open);
        assert_eq!(peer.owners(&closed).next(), None);
        assert_eq!(peer.owners(open.split(" 42 ").next().unwrap()).next(), None, "a row that is cut");
    }

    #[test]
    fn a_connection_of_another_user_is_not() {
        let peer = Peer { client: "127.0.0.1:40000".parse().unwrap(), server: "127.0.0.1:4747".parse().unwrap() };
        let table =
            format!("  sl  local_address rem_address   st\n{}{}", row("0100007F:9C41", 7), row("0100007F:9C40", 8));
        if cfg!(target_endian = "little") {
            assert_eq!(peer.owners(&table).collect::<Vec<_>>(), [8]);
        }
        let mapped: Vec<String> = written("[::ffff:127.0.0.1]:80".parse().unwrap());
        assert_eq!(mapped, written("127.0.0.1:80".parse().unwrap()));
        let elsewhere = Peer { client: "192.0.2.1:40000".parse().unwrap(), ..peer };
        assert!(!elsewhere.is_this_user());
    }
}
