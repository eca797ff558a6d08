import type Router from '@koa/router'
import { role } from '#shared/role.ts'

export const routes: Router = (await import(`./${role}.ts`))[role]
