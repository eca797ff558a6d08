import type { Router } from 'express'
import { role } from '#shared/role.ts'

export const routes: Router = (await import(`./${role}.ts`))[role]
