import type { Config } from '../process/config.ts'

/**
 * The client's address: the peer or, behind trusted proxies, the last address in X-Forwarded-For that is not a trusted proxy.
 * Each proxy appends the address that it saw, so the list is trusted only from its right end.
 * @param peer undefined if it has no address
 * @param forwardedFor the X-Forwarded-For header; repeated headers are joined by commas
 */
export function clientAddress(
  peer: string | undefined,
  forwardedFor: string | string[] | null | undefined,
  trusts: Config['trustProxy'],
): string | undefined {
  if (!forwardedFor || !trusts(peer)) return peer
  const hops = String(forwardedFor).split(',')
  let client = peer
  while (trusts(client)) {
    const hop = hops.pop()?.trim()
    if (!hop) break
    client = hop
  }
  return client
}
