// A process of its own that asks for the balance of a world, one request after the other: told a `{ url, apiKey }` it begins, told
// 'stop' it says how long each response took. Started by `bench/growth.mjs`, so that no work of the bench delays the asking.
import { connect } from 'node:net';

let times = [];
let isLast = false;

function ask({ url, apiKey }) {
  const { hostname, port } = new URL(url);
  const request = `GET /client/fetchbalance HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${apiKey}\r\n\r\n`;
  let startMs = 0;
  const next = () => {
    startMs = performance.now();
    socket.write(request);
  };
  times = [];
  isLast = false;
  const socket = connect(Number(port), hostname, next).setNoDelay(true);
  let answer = '';
  socket.setEncoding('latin1').on('data', (piece) => {
    answer += piece;
    if (!answer.endsWith('}}')) return; // the envelope of a balance ends so
    if (!answer.startsWith('HTTP/1.1 200')) throw new Error(answer);
    times.push(performance.now() - startMs);
    answer = '';
    if (!isLast) return next();
    socket.destroy();
    process.send(times);
  });
  socket.on('error', (error) => {
    throw error;
  });
}

process.on('message', (message) => {
  if (message === 'stop') isLast = true; // the response that is still to come counts: it may be the one that waits
  else ask(message);
});
