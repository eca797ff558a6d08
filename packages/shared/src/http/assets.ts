/** `cache-control` of files with a hash in their names: their content never changes. */
export const IMMUTABLE = 'public, max-age=31536000, immutable'
