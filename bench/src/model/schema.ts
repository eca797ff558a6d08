import Type, { type Static, type TProperties, type TSchema } from 'typebox'

/** How records are described: each once, as the type in TypeScript and as what a file is checked against. */

export type { Static }

/** Others may be there: of a feature that is gone. */
export function object<Properties extends TProperties>(properties: Properties, description?: string) {
  return Type.Object(properties, description === undefined ? {} : { description })
}

export function text(description: string) {
  return Type.String({ description })
}

export function number(description: string) {
  return Type.Number({ description })
}

/** A number of things, from 0. */
export function count(description: string) {
  return Type.Integer({ description, minimum: 0 })
}

export function flag(description: string) {
  return Type.Boolean({ description })
}

export function oneOf<const Value extends string>(values: readonly Value[], description: string) {
  return Type.Enum(values, { description })
}

export function list<Item extends TSchema>(item: Item, description: string) {
  return Type.Array(item, { description })
}

/** By name. */
export function record<Value extends TSchema>(value: Value, description: string) {
  return Type.Record(Type.String(), value, { description })
}

/** The same, or null. */
export function orNull<Schema extends TSchema>(schema: Schema, description?: string) {
  return Type.Union([schema, Type.Null()], description === undefined ? {} : { description })
}
