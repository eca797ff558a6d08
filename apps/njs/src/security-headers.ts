import { type PageSources, PRIVATE, pagePolicy } from '#shared/http/security-headers.ts'

/** Allows a page its scripts: returns the nonce, and headers with the policy of pages. They also keep the page out of caches. */
export function allowScripts(sources?: PageSources) {
  const nonce = createNonce()
  const policy = pagePolicy(nonce, sources)
  return { nonce, headers: { 'content-security-policy': policy, 'cache-control': PRIVATE } }
}

/** Like `#shared/http/ids.ts`, which needs node:crypto. njs has the Web Crypto API instead. */
function createNonce(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(18))).toString('base64')
}
