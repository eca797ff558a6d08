import { H3 } from 'h3'

export const status = new H3().get('/_/status', () => 'OK')
