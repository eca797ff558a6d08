import { APPS, FRAMEWORKS, ROLES } from '@startgrid/grid/matrix.ts'

/** Many apps in few words: `all apps`, `fastify, koa/ssr`, `ssr except njs`. @param names of at least one app */
export function groupApps(names: readonly string[]): string {
  const left = new Set(names)
  if (left.size === APPS.length) return 'all apps'
  const words: string[] = []
  for (const role of ROLES) {
    const own = FRAMEWORKS.map((framework) => `${framework}/${role}`)
    const missing = FRAMEWORKS.filter((framework) => !left.has(`${framework}/${role}`))
    if (missing.length > 1) continue
    words.push(missing.length === 0 ? role : `${role} except ${missing.join()}`)
    for (const name of own) left.delete(name)
  }
  for (const framework of FRAMEWORKS) {
    const own = [...left].filter((name) => name.startsWith(`${framework}/`))
    words.push(...(own.length === ROLES.length ? [framework] : own))
  }
  return words.join(', ')
}
