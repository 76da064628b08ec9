// Attempts to reach something outside.
#include "probe.h"
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>

static int reach(int kind, const char *address, int port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
  inet_pton(AF_INET, address, &to.sin_addr);
  int socket_ = socket(AF_INET, kind, 0);
  if (socket_ < 0) return -1;
  int got = kind == SOCK_STREAM ? connect(socket_, (struct sockaddr *)&to, sizeof to)
                                : (int)sendto(socket_, "x", 1, 0, (struct sockaddr *)&to, sizeof to);
  int error = errno;
  close(socket_);
  errno = error;
  return got;
}

static int reach6(const char *address, int port) {
  struct sockaddr_in6 to = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
  inet_pton(AF_INET6, address, &to.sin6_addr);
  int socket_ = socket(AF_INET6, SOCK_STREAM, 0);
  if (socket_ < 0) return -1;
  int got = connect(socket_, (struct sockaddr *)&to, sizeof to);
  int error = errno;
  close(socket_);
  errno = error;
  return got;
}

static int own_loopback(void) {
  struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof at;
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&at, length) || listen(listener, 1)) return -1;
  getsockname(listener, (struct sockaddr *)&at, &length);
  return reach(SOCK_STREAM, "127.0.0.1", ntohs(at.sin_port));
}

static int set_address(void) {
  struct ifreq request = {.ifr_name = "lo"};
  struct sockaddr_in *address = (struct sockaddr_in *)&request.ifr_addr;
  address->sin_family = AF_INET;
  inet_pton(AF_INET, "10.0.0.2", &address->sin_addr);
  int socket_ = socket(AF_INET, SOCK_DGRAM, 0);
  return socket_ < 0 ? -1 : ioctl(socket_, SIOCSIFADDR, &request);
}

int main(int count, char **words) {
  if (count < 5) return 2;
  told = words;
  int port = atoi(told[3]), port6 = atoi(told[4]);
  TRY("27 connect to a service on the machine's loopback", reach(SOCK_STREAM, "127.0.0.1", port));
  TRY("27 connect to a service on the machine's IPv6 loopback", reach6("::1", port6));
  TRY("+ connect to it by the address of any", reach(SOCK_STREAM, "0.0.0.0", port));
  TRY("+ connect to it by a mapped address", reach6("::ffff:127.0.0.1", port));
  TRY("28 connect to an address of the local network", reach(SOCK_STREAM, "192.168.1.1", 80));
  TRY("28 connect to the address of cloud metadata", reach(SOCK_STREAM, "169.254.169.254", 80));
  TRY("+ connect to an address of the internet", reach(SOCK_STREAM, "192.0.2.1", 443));
  TRY("+ connect to a private IPv6 address", reach6("fd00::1", 80));
  TRY("29 send a datagram to the local network", reach(SOCK_DGRAM, "192.168.1.1", 53));
  TRY("29 send a datagram to everybody near", reach(SOCK_DGRAM, "224.0.0.251", 5353));
  TRY("+ make a raw socket", shut(socket(AF_INET, SOCK_RAW, 1)));
  TRY("+ give an interface an address", set_address());
  TRY("+ hear what the kernel says of devices", shut(socket(AF_NETLINK, SOCK_RAW, 15)));
  TRY("+ ask for the routes", shut(socket(AF_NETLINK, SOCK_RAW, 0)));
  TRY("+ serve and connect on the run's own loopback", own_loopback());
  return 0;
}
