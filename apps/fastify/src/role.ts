import type { FastifyPluginAsync } from 'fastify'
import { role } from '#shared/role.ts'

export const routes: FastifyPluginAsync = (await import(`./${role}.ts`))[role]
