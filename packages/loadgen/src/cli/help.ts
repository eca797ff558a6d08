/** @param program as a person types it */
export const helpOf = (program: string) => `Usage: ${program} URL… [options]

Sends HTTP/1.1 requests to a server on this machine and reads every response.
Closed loop: each connection sends its next request as soon as the last one has
its response. Open loop (--rate): requests are sent when they are due, whatever
became of those before, and their latency counts from then.

Load
  -c, --connections N     connections; in open loop, at most (64)
  -d, --duration TIME     how long to send: 500ms, 5s, 1m (10s)
  -n, --requests N        how many to send, instead of a duration
  -r, --rate N            open loop: requests per second
      --arrivals KIND     poisson (independent users) or constant (poisson)
      --pipeline N        requests in flight per connection (1)
      --new-connections   a connection for each request
      --warmup TIME       load before that, not counted (0s)
      --timeout TIME      allowed to a response (5s)
      --seed N            of arrivals and random paths (1)

Requests
  URL…                    of several, one is drawn at random each time; a path
                          may have random parts: {int:1-1000}, {hex:8} and
                          {pick:a|b|c}
      --path-file FILE    one path per line; the URL gives the host only
      --method M          GET, HEAD, POST, … (GET, or POST with a body)
  -H, --header 'NAME: V'  a request header; may be given again
      --body TEXT         the request's body
      --body-file FILE    the same, from a file in UTF-8
  -k, --insecure          https:// on loopback with any certificate
      --socket PATH       connect to this unix socket; URL gives host and path

Right responses
      --expect-status N   any other status is an error (200)
      --check N           compare the content of about every N-th response (100)
                          with the first response to the same path, or with
      --expect-body FILE  this body, or
      --expect-sha256 HEX a body of this hash

Output
      --series TIME       also per interval: 100ms, 1s
      --json FILE         also write the result to FILE; - writes only it, to
                          standard output
  -h, --help              this text

Exit code: 0 all responses as expected, 1 errors or no server, 2 wrong usage,
130 interrupted with Ctrl-C (what was measured is still printed).
`
