import { randomBytes } from 'node:crypto'
import type { Command } from './command.ts'
import { containerCommand, type Mount } from './docker.ts'

/** What is needed to run an NGINX: a program on this machine, or an image. */
export type Binary =
  | { readonly type: 'native'; readonly path: string; readonly env: Readonly<Record<string, string>> }
  | { readonly type: 'image'; readonly image: string }

/** One short run of an NGINX (`-V`, `-t`) with its arguments. `mounts` matter to an image only. */
export function onceCommand(binary: Binary, args: readonly string[], mounts: readonly Mount[] = []): Command {
  if (binary.type === 'native') return { file: binary.path, args, env: binary.env }
  const options = { image: binary.image, name: containerName(), mounts, mode: 'once' } as const
  return containerCommand(options, ['nginx', ...args])
}

/** A container name that no other run uses. */
export function containerName(): string {
  return `startgrid-nginx-${process.pid}-${randomBytes(4).toString('hex')}`
}
