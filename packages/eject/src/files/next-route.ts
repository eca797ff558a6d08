import type { Role } from '@startgrid/grid/apps.ts'
import { EjectError } from '../eject-error.ts'

/** How a POST is added to the routes of a project, as docs/add-a-route.md does it. */
interface Snippet {
  /** Goes below the imports of the file: imports, schemas. */
  head: string
  /** Goes before the first route. */
  route: string
}

const ZOD = `import { z } from 'zod'

const Person = z.object({ name: z.string().min(1).max(100) })`

const BY_HAND = `import { HttpProblem } from '#shared/http/problem.ts'

function parseName(body: unknown): string {
  const { name } = Object(body) as { name?: unknown }
  if (typeof name === 'string' && name !== '' && name.length <= 100) return name
  throw new HttpProblem(400, { errors: [{ field: 'name', reason: 'must be a text of 1 to 100 characters' }] })
}`

/** @param router the variable of the routes */
const SNIPPETS: Readonly<Record<string, (router: string) => Snippet>> = {
  node: () => ({
    head: BY_HAND,
    route: `  route('POST', '/greetings', async (context) => {
    context.json({ hello: parseName(await context.readJson()) }, 201)
  }),`,
  }),
  fastify: () => ({
    head: `const NewPerson = Type.Object({ name: Type.String({ minLength: 1, maxLength: 100 }) })
const NewGreeting = Type.Object({ hello: Type.String() })`,
    route: `const schema = { body: NewPerson, response: { 201: NewGreeting } }
app.post('/greetings', { schema }, async (request, reply) => {
  reply.code(201)
  return { hello: request.body.name }
})`,
  }),
  express: (router) => ({
    head: ZOD,
    route: `${router}.post('/greetings', (request, response) => {
  const { name } = Person.parse(request.body)
  response.status(201).json({ hello: name })
})`,
  }),
  koa: (router) => ({
    head: ZOD,
    route: `${router}.post('/greetings', (ctx) => {
  const { name } = Person.parse(ctx.request.body)
  ctx.status = 201
  ctx.body = { hello: name }
})`,
  }),
  hono: () => ({
    head: ZOD.replace('\n', "\nimport { validator } from './middleware/validator.ts'\n"),
    route:
      "  .post('/greetings', validator('json', Person), (c) => c.json({ hello: c.req.valid('json').name }, 201))",
  }),
  bun: () => ({
    head: ZOD,
    route: `  '/greetings': {
    POST: async (request: Request) => {
      const { name } = Person.parse(await request.json())
      return Response.json({ hello: name }, { status: 201 })
    },
  },`,
  }),
  njs: () => ({
    head: BY_HAND.replace('\n', "\nimport { json, readJson } from './handler.ts'\n"),
    route: `  '/greetings': { POST: (request) => json({ hello: parseName(readJson(request)) }, 201) },`,
  }),
}

/**
 * @param existing the file that gets the route; the snippet imports nothing that it has already
 * @throws {EjectError} for a framework without a snippet
 */
export function nextRoute(framework: string, role: Role, existing: string): Snippet {
  const create = SNIPPETS[framework]
  if (create === undefined)
    throw new EjectError(`packages/eject/src/files/next-route.ts has no route for ${framework}: add one.`)
  const { head, route } = create(role)
  const imported = listNames(existing)
  const lines = head.split('\n').flatMap((line) => {
    const [, from] = IMPORT.exec(line)?.slice(1) ?? []
    if (from === undefined) return [line]
    const names = [...listNames(line)].filter((name) => !imported.has(name))
    return names.length === 0 ? [] : [`import { ${names.join(', ')} } from ${from}`]
  })
  return { head: lines.join('\n').trim(), route }
}

const IMPORT = /^import \{([^}]*)\} from (.*)$/

/** The names that a file imports in braces. */
function listNames(text: string): Set<string> {
  const lists = text.matchAll(new RegExp(IMPORT, 'gm'))
  return new Set(
    [...lists].flatMap(([, names = '']) => names.split(',').map((name) => name.replace('type ', '').trim())),
  )
}
