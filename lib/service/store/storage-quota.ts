import { statfsSync } from 'node:fs'
import { sizeText } from '#lib/service/kit/amounts.ts'
import { ServiceError } from '#lib/service/kit/errors.ts'

const kinds = ['snapshots', 'objects', 'blueprints', 'axons', 'outputs', 'run logs'] as const
export type StorageKind = (typeof kinds)[number]

/** Unspecified: half of the disk, so that no account can fill it alone. */
export const defaultStorageBytes = (dataDir: string): number => {
  const { blocks, bsize } = statfsSync(dataDir)
  return Math.floor((blocks * bsize) / 2)
}

/** Bytes that each account stores, counted as they are written; `countStored` adds what was stored before the start. */
export class StorageQuota {
  readonly #limitBytes: number
  readonly #stored = new Map<string, Record<StorageKind, number>>()

  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes || Number.POSITIVE_INFINITY
  }

  add(account: string, kind: StorageKind, bytes: number): void {
    const stored = this.#stored.get(account) ?? {
      snapshots: 0,
      objects: 0,
      blueprints: 0,
      axons: 0,
      outputs: 0,
      'run logs': 0,
    }
    stored[kind] += bytes
    this.#stored.set(account, stored)
  }

  available(account: string): number {
    return Math.max(0, this.#limitBytes - this.#usedBytes(account))
  }

  /** Throws 507 if the account has less than `bytes` available. */
  require(account: string, bytes = 1): void {
    if (bytes <= this.available(account)) return
    const stored = this.#stored.get(account)
    const parts = kinds.flatMap((kind) => (stored?.[kind] ? [`${kind} ${sizeText(stored[kind])}`] : []))
    const used = `${sizeText(this.#usedBytes(account))}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`
    throw new ServiceError(
      'insufficient_storage',
      `Account ${account} stores ${used} of at most ${sizeText(this.#limitBytes)}; this needs ${sizeText(bytes)} more. ` +
        'Delete snapshots, objects or blueprints, or ask the operator of the service to raise --max-storage',
      { shouldRetry: false },
    )
  }

  take(account: string, kind: StorageKind, bytes: number): void {
    this.require(account, bytes)
    this.add(account, kind, bytes)
  }

  accounts(): Iterable<string> {
    return this.#stored.keys()
  }

  /** Stored bytes by kind, without empty kinds; undefined limit: none. */
  of(account: string): { stored: Partial<Record<StorageKind, number>>; limitBytes: number | undefined } {
    const stored = Object.entries(this.#stored.get(account) ?? {}).filter(([, bytes]) => bytes > 0)
    return {
      stored: Object.fromEntries(stored),
      limitBytes: Number.isFinite(this.#limitBytes) ? this.#limitBytes : undefined,
    }
  }

  #usedBytes(account: string): number {
    return Object.values(this.#stored.get(account) ?? {}).reduce((sum, bytes) => sum + bytes, 0)
  }
}
