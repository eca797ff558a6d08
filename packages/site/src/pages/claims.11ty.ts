export function render(): string {
  return '<h1>Claims</h1>'
}
