import { type Contract, contract } from '#lib/contract/index.ts'
import { type Calls, type ClientOptions, createCalls } from './calls.ts'

export type Client = Calls<Contract>

export const createClient = (options: ClientOptions): Client => createCalls(contract, options)
