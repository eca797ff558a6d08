import { role } from '#shared/role.ts'
import type { CreateRoutes } from './routes.ts'

export const routes: CreateRoutes = (await import(`./${role}.ts`))[role]
