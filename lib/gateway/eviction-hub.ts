export interface EvictionHub {
  close(): void
}
