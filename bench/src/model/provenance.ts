import Type from 'typebox'
import { count, object, orNull, record, type Static, text } from './schema.ts'

/** Where a run took place, and by what. */

export const Machine = object(
  {
    cpu: text('Model of the first CPU.'),
    cores: count('CPUs that the run may use.'),
    memoryBytes: count('Memory of the machine, in bytes.'),
    os: text('Name and version of the system.'),
    kernel: text('Name, version and architecture of the kernel.'),
    governor: orNull(
      Type.String(),
      'CPU frequency governor; null where the kernel does not say (virtual machines, macOS).',
    ),
  },
  'Where it was measured.',
)

export const Versions = object(
  {
    startgrid: text('Commit, with -dirty after it if files differ from it.'),
    node: text('Version of Node.'),
    bun: text('Version of Bun.'),
    lockfile: text('First 16 hexadecimal digits of the SHA-256 of the lockfile.'),
    packages: record(Type.String(), 'Version by package.'),
  },
  'What was measured.',
)

export type NginxVersion = Static<typeof NginxVersion>
export const NginxVersion = object({
  kind: text('Where it was found: path, docker or download.'),
  version: text('Version of NGINX.'),
  njs: orNull(
    object({
      version: text('Version of njs.'),
      engine: text('JavaScript engine: qjs is QuickJS, njs the old one.'),
    }),
    'Its njs module; null without one.',
  ),
})
