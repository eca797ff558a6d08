import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Certificate } from '../render/render.ts'

/** A week. A new one is made at each start. */
const VALIDITY_MS = 7 * 86_400_000

/** ECDSA P-256, or RSA with 2,048 bits. */
export type KeyType = 'ecdsa' | 'rsa'

/** Writes a certificate for the names of this machine on loopback, valid for a week, and its key. One that is there is used again. */
export async function makeCertificate(dir: string, keyType: KeyType = 'ecdsa'): Promise<Certificate> {
  const files = { certificate: join(dir, 'certificate.pem'), key: join(dir, 'key.pem') }
  if (existsSync(files.certificate)) return files
  // Its 230 files take 60 ms, and every command that can start a server loads this one.
  const { generate } = await import('selfsigned')
  const from = new Date()
  const { cert, private: secret } = await generate([{ name: 'commonName', value: 'localhost' }], {
    // By default, it is SHA-1.
    algorithm: 'sha256',
    ...(keyType === 'rsa' ? { keyType, keySize: 2048 } : { keyType: 'ec', curve: 'P-256' }),
    notBeforeDate: from,
    notAfterDate: new Date(from.getTime() + VALIDITY_MS),
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
