import type { Project } from '../project.ts'

/** Settings that the image fixes. */
const FIXED = new Set(['HOST', 'PORT', 'SOCKET'])

/**
 * Measured with 128 connections and no limit: Node 164 MB, with a page 223; Bun 64 and 117. With a limit, V8 collects garbage earlier.
 */
export const MEMORY = {
  node: { page: '384m', other: '256m' },
  bun: { page: '256m', other: '128m' },
  nginx: { page: '128m', other: '64m' },
} as const

/** The service in a container with minimal rights, reachable only from this machine. */
export function compose({ runtime, hasBuild, environment }: Project): string {
  const passed = environment.map(({ name }) => name).filter((name) => !FIXED.has(name))
  const lines = [
    'build: .',
    '# A small process in front of the server that forwards signals and reaps.',
    'init: true',
    'restart: on-failure',
    'read_only: true',
    ...(runtime === 'nginx' ? ['# Process id and temporary files.', 'tmpfs: [/app/run]'] : []),
    'cap_drop: [ALL]',
    'security_opt: [no-new-privileges:true]',
    'pids_limit: 128',
    `mem_limit: ${MEMORY[runtime][hasBuild ? 'page' : 'other']}`,
    '# Otherwise the log would fill the disk.',
    'logging:',
    '  driver: json-file',
    '  options: { max-size: 10m, max-file: "3" }',
    '# For this machine only: what the world may reach is decided by a proxy that speaks TLS.',
    `ports: ["127.0.0.1:\${PORT:-3000}:3000"]`,
    ...(passed.length > 0 ? ['# As they are set in the shell or in .env; README.md has the list.'] : []),
    ...(passed.length > 0 ? ['environment:', ...passed.map((name) => `  - ${name}`)] : []),
  ]
  return `services:\n  app:\n${lines.map((line) => `    ${line}\n`).join('')}`
}
