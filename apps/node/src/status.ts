import { route } from './router.ts'

export const status = [route('GET', '/_/status', (context) => context.text('OK'))]
