export function render(): string {
  return '<h1>Results</h1>'
}
