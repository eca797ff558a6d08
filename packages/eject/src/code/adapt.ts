/** The texts that exist only because there are several apps, and what a project has in their place. */

/**
 * Makes the server start its one app, alone and under the name in package.json.
 * @throws {Error} if a text is not there exactly once
 */
export function adaptServer(text: string, role: string): string {
  const [, load] = new RegExp(`^  ${role}: (.*),$`, 'm').exec(text) ?? []
  if (load === undefined) throw new Error(`src/server.ts has no role ${role} in a line of its own.`)
  const edits = [
    [/^const ROLES = \{\n(?: {2}.*\n)+\}\n\n/m, ''],
    [/'\w+', ROLES\)/, `manifest.name, ${load})`],
    [/^/, "import manifest from '../package.json' with { type: 'json' }\n"],
  ] as const
  return edits.reduce((edited, [place, by]) => replaceOnce(edited, place, by), launchAlone(text))
}

/** A project has the plain modules in the place of those that know roles, clusters and unix sockets. */
export function launchAlone(text: string): string {
  return text.replaceAll("'#shared/launch/", "'#shared/process/")
}

/** A project has the fixtures and the suite of all apps beside its tests. */
export function importBeside(path: string, text: string): string {
  if (path.startsWith('test/fixtures/')) return text.replaceAll("'../src/", "'../../src/")
  if (path.startsWith('test/suite/')) return text.replaceAll("'../", "'#shared/")
  return text.replaceAll("'#shared/testing/", "'./suite/").replaceAll("'../fixtures/", "'./fixtures/")
}

/** Only pages are ever refused because of overload. Prettily, each mention has a line of its own, perhaps with a comment above it. */
export function leaveShedding(text: string): string {
  return text.replaceAll(
    /^(?: *\/\*\*.*\*\/\n)?.*(?:shouldShed|[lL]oadShedd(?:er|ing)|maxQueueWaitMs|MAX_QUEUE_WAIT_MS).*\n/gm,
    '',
  )
}

function replaceOnce(text: string, place: RegExp, by: string): string {
  const [found, ...others] = text.match(new RegExp(place, `${place.flags}g`)) ?? []
  if (found === undefined || others.length > 0)
    throw new Error(
      `${place} is there ${others.length + (found === undefined ? 0 : 1)} times, not once, in:\n${text}`,
    )
  return text.replace(place, by)
}
