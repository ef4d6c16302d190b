import { type Contract, contract } from '#lib/contract/index.ts'
import { type Calls, type ClientOptions, createCalls } from './calls.ts'

export type Client = Calls<Contract>

/** Calls for every operation. Pages use `createCalls` with the resources they need. */
export const createClient = (options: ClientOptions): Client => createCalls(contract, options)
