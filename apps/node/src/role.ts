import { role } from '#shared/role.ts'
import type { Route } from './router.ts'

export const routes: readonly Route[] = (await import(`./${role}.ts`))[role]
