import { createPrivateKey, X509Certificate } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Certificate } from '../render/front.ts'

/** The names of the files that `makeCertificate` writes. */
export const OWN_CERTIFICATE = ['certificate.pem', 'key.pem'] as const

/** Days. A new one is made at each start, and by a reload on its last day. */
const VALIDITY = 7

const DAY_MS = 86_400_000

/** ECDSA P-256, or RSA with 2,048 bits. */
export type KeyType = 'ecdsa' | 'rsa'

/** Writes a certificate for the names of this machine on loopback, valid for a week, and its key. One that is there is used until its last day. */
export async function makeCertificate(dir: string, keyType: KeyType = 'ecdsa'): Promise<Certificate> {
  const files = { certificate: join(dir, OWN_CERTIFICATE[0]), key: join(dir, OWN_CERTIFICATE[1]) }
  if (existsSync(files.certificate)) {
    const { validToDate } = new X509Certificate(readFileSync(files.certificate))
    if (validToDate.getTime() > Date.now() + DAY_MS) return files
  }
  // Its 230 files take 60 ms, and every command that can start a server loads this one.
  const { generate } = await import('selfsigned')
  const from = new Date()
  const { cert, private: secret } = await generate([{ name: 'commonName', value: 'localhost' }], {
    // By default, it is SHA-1.
    algorithm: 'sha256',
    ...(keyType === 'rsa' ? { keyType, keySize: 2048 } : { keyType: 'ec', curve: 'P-256' }),
    notBeforeDate: from,
    notAfterDate: new Date(from.getTime() + VALIDITY * DAY_MS),
    extensions: [
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: 'localhost' },
          { type: 7, ip: '127.0.0.1' },
          { type: 7, ip: '::1' },
        ],
      },
    ],
  })
  writeFileSync(files.key, secret, { mode: 0o600 })
  writeFileSync(files.certificate, cert)
  return files
}

/** @throws {Error} one sentence, if NGINX or its clients would refuse this pair */
export function checkCertificate({ certificate, key }: Certificate): void {
  const parsed = parse(certificate, 'certificate', (pem) => new X509Certificate(pem))
  const secret = parse(key, 'key', createPrivateKey)
  if (!parsed.checkPrivateKey(secret))
    throw new Error(`${key} is not the key of the certificate ${certificate}.`)
  if (parsed.validToDate < new Date())
    throw new Error(`The certificate ${certificate} expired on ${parsed.validTo}: renew it.`)
}

function parse<T>(path: string, what: string, read: (pem: Buffer) => T): T {
  try {
    return read(readFileSync(path))
  } catch (error) {
    throw new Error(
      `${path} is not a readable ${what} in PEM (${error instanceof Error ? error.message : error}).`,
    )
  }
}
