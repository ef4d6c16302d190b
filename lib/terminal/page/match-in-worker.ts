/** A useful expression takes a few milliseconds. */
const timeoutMs = 2_000

export const tooSlow = 'The search timed out. Try a simpler expression.'

/** Indexes of matching texts; null on timeout. Catastrophic backtracking would freeze the page. */
export const matchInWorker = (
  pattern: RegExp,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<number[] | null> =>
  new Promise((resolve, reject) => {
    const worker = new Worker('/search-worker.js')
    let timer: ReturnType<typeof setTimeout> | undefined
    const end = () => {
      clearTimeout(timer)
      worker.terminate()
    }
    signal.addEventListener('abort', () => {
      end()
      reject(signal.reason)
    })
    worker.onmessage = ({ data }: MessageEvent<'ready' | number[]>) => {
      if (data === 'ready') {
        // Starts once the worker runs, so that its startup doesn't count.
        timer = setTimeout(() => {
          end()
          resolve(null)
        }, timeoutMs)
        worker.postMessage({ source: pattern.source, flags: pattern.flags, texts })
        return
      }
      end()
      resolve(data)
    }
    worker.onerror = (event) => {
      end()
      reject(new Error(event.message || 'The search could not start'))
    }
  })
