import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type KeyType, makeCertificate } from '@startgrid/nginx/certificate.ts'
import type { Certificate } from '@startgrid/nginx/front.ts'

const made = new Map<KeyType, Promise<Certificate>>()

/** A certificate for loopback, one per type in this process: all systems of a study show the same one. The files go with this process. */
export function certificateOf(keyType: KeyType): Promise<Certificate> {
  const known = made.get(keyType)
  if (known !== undefined) return known
  const directory = mkdtempSync(join(tmpdir(), 'startgrid-certificate-'))
  process.once('exit', () => rmSync(directory, { recursive: true, force: true }))
  const certificate = makeCertificate(directory, keyType)
  made.set(keyType, certificate)
  return certificate
}
