import { Hono } from 'hono'

export const status = new Hono().get('/_/status', (c) => c.text('OK'))
