import type { H3 } from 'h3'
import { role } from '#shared/role.ts'

export const routes: H3 = (await import(`./${role}.ts`))[role]
