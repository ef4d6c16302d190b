'use client'
import { createContext, use } from 'react'
import type { Operation } from '#lib/protocol/roles.ts'

/** Why an operation isn't possible for this person on this service, whatever it is applied to; null if it may be. */
export type RefusalOf = (operation: Operation) => string | null

/** Refuses nothing by default: outside the console's layout nobody is signed in. */
export const Refusals = createContext<RefusalOf>(() => null)

export const useRefusalOf = (): RefusalOf => use(Refusals)

/** The reason for a control that needs `operation`, or else its own. */
export const useRefusal = (operation: Operation | undefined, otherwise: string | null = null): string | null => {
  const refusalOf = useRefusalOf()
  return (operation && refusalOf(operation)) ?? otherwise
}
