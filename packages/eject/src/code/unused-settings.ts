import { type Node, parseSync, Visitor } from 'oxc-parser'
import { editOnce } from './edit.ts'

const CONFIG = 'shared/process/config.ts'

/** Removes the settings that no other source uses from `Config`, and from the function that reads it. */
export function dropUnusedSettings(sources: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  const config = sources.get(CONFIG)
  if (config === undefined) return sources
  const asked = listProperties(sources)
  const isAsked = (key: Node) => key.type === 'Identifier' && asked.has(key.name)

  const declared = editOnce(CONFIG, config, 'the interface Config', (replace) => ({
    TSInterfaceDeclaration({ id, body }) {
      if (id.name !== 'Config') return
      // Each with the comment above it.
      const members = body.body.map((member, index) => {
        const start = body.body[index - 1]?.end ?? body.start + 1
        return member.type === 'TSPropertySignature' && !isAsked(member.key)
          ? ''
          : config.slice(start, member.end)
      })
      replace(body, `{${members.join('')}\n}`)
    },
  }))
  const read = editOnce(CONFIG, declared, 'the settings that readConfig returns', (replace) => ({
    FunctionDeclaration({ id, body }) {
      const [statement] = body?.body ?? []
      if (id?.name !== 'readConfig' || statement?.type !== 'ReturnStatement') return
      if (statement.argument?.type !== 'ObjectExpression') return
      const kept = statement.argument.properties.filter((one) => one.type !== 'Property' || isAsked(one.key))
      replace(statement.argument, `{${kept.map(({ start, end }) => declared.slice(start, end)).join(', ')}}`)
    },
  }))
  return new Map([...sources, [CONFIG, read]])
}

/** All property names that are used outside config.ts. */
function listProperties(sources: ReadonlyMap<string, string>): Set<string> {
  const names = new Set<string>()
  const add = (key: Node) => {
    if (key.type === 'Identifier') names.add(key.name)
  }
  for (const [path, text] of sources) {
    if (path === CONFIG || !/\.tsx?$/.test(path)) continue
    new Visitor({
      MemberExpression: ({ property }) => add(property),
      ObjectPattern: ({ properties }) => {
        for (const one of properties) if (one.type === 'Property') add(one.key)
      },
    }).visit(parseSync(path, text).program)
  }
  return names
}
