import { FRAMEWORKS, ROLES } from '@startgrid/grid/apps.ts'

/** Many apps in few words: `all apps`, `all apps except njs`, `fastify, koa/ssr`, `ssr except njs`. @param names at least one */
export function groupApps(names: readonly string[]): string {
  const left = new Set(names)
  const missing = FRAMEWORKS.filter((framework) => ROLES.every((role) => !left.has(`${framework}/${role}`)))
  if (missing.length < 2 && left.size === (FRAMEWORKS.length - missing.length) * ROLES.length)
    return ['all apps', ...missing].join(' except ')
  return [...takeRoles(left), ...takeFrameworks(left)].join(', ')
}

/** Roles of which at most one framework is missing; they are removed from the set. */
function takeRoles(left: Set<string>): string[] {
  return ROLES.flatMap((role) => {
    const missing = FRAMEWORKS.filter((framework) => !left.has(`${framework}/${role}`))
    if (missing.length > 1) return []
    for (const framework of FRAMEWORKS) left.delete(`${framework}/${role}`)
    return [[role, ...missing].join(' except ')]
  })
}

function takeFrameworks(left: ReadonlySet<string>): string[] {
  return FRAMEWORKS.flatMap((framework) => {
    const own = [...left].filter((name) => name.startsWith(`${framework}/`))
    return own.length === ROLES.length ? [framework] : own
  })
}
