import { CATALOGUE, ROLES, type Role, type Runtime } from '@startgrid/grid/frameworks.ts'
import validate from 'validate-npm-package-name'

export interface App {
  /** `fastify/ssr` */
  name: string
  framework: string
  role: Role
  runtime: Runtime
}

export const APPS: readonly App[] = CATALOGUE.flatMap(({ name: framework, runtime }) =>
  ROLES.map((role) => ({ name: `${framework}/${role}`, framework, role, runtime })),
)

/** What `--with` adds. */
export const OPTIONS = {
  telemetry: 'traces and metrics by OpenTelemetry',
  nginx: 'NGINX in front, with TLS',
  kubernetes: 'manifests for Kustomize',
} as const

export type Option = keyof typeof OPTIONS

/** Why an app cannot have an option: a sentence. */
export function whyNot({ runtime }: App, option: Option): string | undefined {
  if (option === 'nginx' && runtime === 'nginx')
    return 'It runs inside NGINX already, so it needs no other one in front.'
  if (option === 'telemetry' && runtime !== 'node')
    return 'OpenTelemetry for JavaScript observes the HTTP server of Node: choose an app on Node.'
  return undefined
}

/** Why npm would refuse it for a new package: a sentence. */
export function whyNoName(name: string): string | undefined {
  const { validForNewPackages, errors = [], warnings = [] } = validate(name)
  if (validForNewPackages) return undefined
  return `'${name}' cannot be the name of a package: ${[...errors, ...warnings].join(', ')}.`
}
