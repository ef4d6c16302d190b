import { type Contract, contract } from '#lib/contract/index.ts'
import { type Calls, type ClientOptions, createCalls } from './calls.ts'

export type Client = Calls<Contract>

/** Every operation of the contract. What a browser downloads calls `createCalls` with the resources it needs instead. */
export const createClient = (options: ClientOptions): Client => createCalls(contract, options)
