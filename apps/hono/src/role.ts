import type { Hono } from 'hono'
import { role } from '#shared/role.ts'

export const routes: Hono = (await import(`./${role}.ts`))[role]
