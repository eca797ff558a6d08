import { basename, resolve } from 'node:path'
import validate from 'validate-npm-package-name'
import { EjectError } from './eject-error.ts'

/** The name that a project gets from its directory. */
export function nameFor(path: string): string {
  return basename(resolve(path))
}

/** @throws {EjectError} if npm would refuse the name for a new package */
export function checkProjectName(name: string): void {
  const { validForNewPackages, errors = [], warnings = [] } = validate(name)
  if (!validForNewPackages)
    throw new EjectError(
      `'${name}' cannot be the name of a package. Give another one with --name:\n  ${[...errors, ...warnings].join('\n  ')}`,
    )
}

/** npm does not install a package into itself. @throws {EjectError} */
export function refuseNameOfDependency(name: string, dependencies: Readonly<Record<string, string>>): void {
  if (name in dependencies)
    throw new EjectError(`'${name}' is a package that the project needs: give another --name.`)
}
