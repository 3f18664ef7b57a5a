// One way to the server: JSON with the token, a limit of time, and a new token out of every reply.

const PATIENCE_MS = 15000;
const KEEPALIVE_BYTES = 40000; // browsers refuse more than 64 KB that should outlive the page

class Unreachable extends Error {}

class Denied extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

class Server {
  constructor(base, token, language) {
    Object.assign(this, { base, token, language });
  }

  async post(path, body) {
    const limit = new AbortController();
    const timer = setTimeout(() => limit.abort(), PATIENCE_MS);
    const text = JSON.stringify({ ...body, language: this.language });
    let response, reply;
    try {
      response = await fetch(`${this.base}/${path}`, {
        method: "POST",
        headers: { "Content-Type": "application/json", Authorization: `Bearer ${this.token}` },
        body: text,
        keepalive: text.length < KEEPALIVE_BYTES / 3, // characters of three bytes at most
        signal: limit.signal,
        cache: "no-store",
        credentials: "same-origin",
      });
      reply = await response.json();
    } catch (error) {
      throw new Unreachable(String(error)); // no answer, or one that is not ours (a proxy's page)
    } finally {
      clearTimeout(timer);
    }
    if (!response.ok) {
      if (response.status >= 500) throw new Unreachable(reply?.message ?? String(response.status));
      throw new Denied(response.status, reply?.message ?? String(response.status));
    }
    if (reply.token) this.token = reply.token;
    return reply;
  }
}
