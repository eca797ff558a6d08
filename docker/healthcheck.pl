# `perl healthcheck.pl PORT PATH` exits with 0 if NGINX responds with 200. Debian images contain Perl, but neither curl nor Node.
use strict;
use warnings;
use IO::Socket::INET;

my ($port, $path) = @ARGV;
my $socket = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$port", Timeout => 2) or exit 1;
print $socket "GET $path HTTP/1.0\r\n\r\n";
exit(<$socket> =~ / 200 / ? 0 : 1);
