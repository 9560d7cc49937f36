"""The whole method in plain NumPy: the page to read first, and the oracle of the tests. Slow on purpose.

Every map is the same two steps, repeated while sigma falls:

    A = weights(G, sigma) * m         (K, N)  what point i counts for prototype j
    w = argmin over l of (A @ D)      median: a data point;   batch: the mean A @ X / A.sum(axis=1)

By default a median map is annealed with combinations P (K, N) of the data as prototypes, P = A / A.sum(axis=1), and
only then takes data points: the nearest ones, some of them exchanged for better ones, and the two steps again until
nothing moves; those of a SOM are exchanged and arranged on the lattice instead (`fit_by_combinations`).

Labels y (N, C), a row of NaN where there is none, add (1 - beta) |y_i - Y_j|^2 to beta G; Y (K, C) is a mean like W.

Notation: D (N, N), row = data point, column = candidate; G (N, K) from points to prototypes; m (N,) multiplicities.
"""

from itertools import permutations

import numpy as np

LANES = 64  # the canonical sum runs in this many interleaved partial sums, then halves them
NOISE = 1e-3  # relative size of the perturbation of collisions="noise"
PATIENCE = 10  # epochs without a new least cost after which combinations stop going round
LEAST = 1e-12  # coefficients below this share of the largest are dropped
RUN = 64  # neighbouring points that are tried in a row as exemplars


def h(t, sigma, neighborhood="exponential", least=0.0):
    """h(t) / h(least), h(t) = exp(-t / sigma) or exp(-t^2 / 2 sigma^2), zero where too small to multiply safely."""
    t = np.asarray(t, float)
    with np.errstate(over="ignore"):
        exponent = (t - least) / sigma
        if neighborhood == "gaussian":
            exponent = exponent * ((t + least) / (2 * sigma))
        values = np.exp(-exponent)
    return np.where(values < 1e-290, 0.0, values)


def product(A, D):
    """A @ D with the canonical order of summation, which decides all ties: lane i mod 64, then halving."""
    pad = -len(D) % LANES
    A, D = np.pad(A, ((0, 0), (0, pad))), np.pad(D.astype(float), ((0, pad), (0, 0)))
    lanes = np.zeros((len(A), LANES, D.shape[1]))
    for i in range(0, len(D), LANES):
        lanes += A[:, i : i + LANES, None] * D[None, i : i + LANES, :]
    while lanes.shape[1] > 1:
        half = lanes.shape[1] // 2
        lanes = lanes[:, :half] + lanes[:, half:]
    return lanes[:, 0]


# --- step 1: weights (K, N) and cost --------------------------------------------------------------------


def kmeans(G, sigma, m):
    """A[j, i] = 1 if j is i's winner;  cost = sum_i m_i min_j G[i, j]."""
    winner = G.argmin(axis=1)
    return (np.arange(G.shape[1])[:, None] == winner) * m, (m * G.min(axis=1)).sum()


def gibbs(G, T, m):
    """A[j, i] = exp(-G[i, j] / T) / sum_k exp(-G[i, k] / T); cost = -T sum_i m_i log of that sum; at T = 0 K-means."""
    if T == 0:
        return kmeans(G, T, m)
    least = G.min(axis=1, keepdims=True)
    e = np.exp((least - G) / T)
    return (e / e.sum(axis=1, keepdims=True)).T * m, (m * (least[:, 0] - T * np.log(e.sum(axis=1)))).sum()


def neural_gas(G, sigma, m, neighborhood="exponential", truncate=np.inf):
    """A[j, i] = h(rank of j for i), 0 beyond the rank `truncate`;  cost = sum_ij m_i h(rank_ij) G[i, j], so many ranks.
    Ties in G: lower j first."""
    rank = G.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    smallest = rank.min(axis=0)  # the scale of a row of A changes no argmin, but keeps it from underflowing
    counts = rank <= truncate
    A = (h(rank, sigma, neighborhood, smallest) * counts).T * m
    return A, (m[:, None] * (h(rank, sigma, neighborhood) * counts) * G).sum()


def som(nd, neighborhood="exponential", normalized=True, truncate=np.inf, nearest=False):
    """A[l, i] = H[I*(i), l], I*(i) = argmin_j sum_l H[j, l] G[i, l];  cost = sum_i m_i of the sum at I*(i).

    H[j, l] = h(nd(j, l)) / Z_j with Z_j = sum_l h(nd(j, l)); the chapter has Z_j = 1 (normalized=False).
    truncate : h = 0 beyond this distance. nearest : I*(i) = argmin_j G[i, j], with which the cost may rise.
    """

    def weights(G, sigma, m):
        counts = nd <= truncate
        H = h(nd, sigma, neighborhood) * counts
        Z = np.sort(H, axis=1).sum(axis=1) if normalized else np.ones(len(nd))
        share = Z.min() / Z  # H times min Z: where all sums are equal, nothing is rounded
        smoothed = product(G, (H * share[:, None]).T)
        winner = (G if nearest else smoothed).argmin(axis=1)
        t = nd[winner].T
        least = t.min(axis=1, keepdims=True)  # a row of A divided by h(least) has the same argmin, and no underflow
        A = h(t, sigma, neighborhood, least) * counts[winner].T * share[winner] * m
        return A, (m * smoothed[np.arange(len(G)), winner]).sum() / Z.min()

    return weights


def soft_som(nd, sigma, neighborhood="exponential", normalized=True, truncate=np.inf):
    """A[l, i] = sum_j p_ij H[j, l], p_ij the shares of `gibbs` from sum_l H[j, l] G[i, l] in the place of G; at T = 0
    the SOM of width sigma."""
    hard = som(nd, neighborhood, normalized, truncate)

    def weights(G, T, m):
        if T == 0:
            return hard(G, sigma, m)
        H = h(nd, sigma, neighborhood) * (nd <= truncate)
        H = H / H.sum(axis=1, keepdims=True) if normalized else H
        shares, cost = gibbs(G @ H.T, T, m)
        return H.T @ shares, cost

    return weights


# --- step 2: prototypes ---------------------------------------------------------------------------------


def median_step(A, D, w, collisions="distinct"):
    """w_j = argmin_l sum_i A[j, i] D[i, l], lowest l on ties; a prototype without weight stays.

    distinct: candidates held by other prototypes are passed over, so each w_j may always keep its own place.
    """
    cost, w = product(A, D), w.copy()
    for j in np.flatnonzero(A.any(axis=1)):
        if collisions == "distinct":
            cost[j, np.delete(w, j)] = np.inf
        w[j] = cost[j].argmin()
    return w


def mean_step(A, X, W):
    """W_j = sum_i A[j, i] x_i / sum_i A[j, i], summed in the order of i; a prototype without weight stays."""
    W, some = W.copy(), A.any(axis=1)
    sums = np.cumsum(A[some, :, None] * X, axis=1)[:, -1]
    W[some] = sums / np.cumsum(A[some], axis=1)[:, -1:]
    return W


def combination_step(A, P):
    """P_j = A_j / sum_i A[j, i], coefficients of a combination of the data; a prototype without weight stays."""
    A, P = np.where(A < LEAST * A.max(axis=1, keepdims=True), 0.0, A), P.copy()
    some = A.any(axis=1)
    P[some] = A[some] / A[some].sum(axis=1, keepdims=True)
    return P


def combination_distances(D, P):
    """(N, K) d(x_i, w_j) = (D P_j)_i - P_j' D P_j / 2, the squared distance where D holds squared distances."""
    Q = D @ P.T
    return Q - (P * Q.T).sum(axis=1) / 2


# --- labels ---------------------------------------------------------------------------------------------


def with_labels(G, y, Y, beta, scale=1.0):
    """d_beta[i, j] = (beta / scale) G[i, j] + (1 - beta) |y_i - Y_j|^2; a point without label has the first part."""
    squares = np.cumsum((y[:, None, :] - Y[None, :, :]) ** 2, axis=2)[:, :, -1]
    return (beta / scale) * G + (1 - beta) * np.where(np.isnan(squares), 0.0, squares)


def between_points(D, y, beta, scale=1.0):
    """d_beta[i, l] = (beta / scale) D[i, l] + (1 - beta) |y_i - y_l|^2 and the labels (N, C) of candidates.

    A candidate has its own label, or without one that of the nearest labelled point.
    """
    known = np.flatnonzero(~np.isnan(y).any(axis=1))
    own = y.copy()
    for candidate in np.setdiff1d(np.arange(len(y)), known):
        own[candidate] = y[known[D[known, candidate].argmin()]]
    return with_labels(D, y, own, beta, scale), own


def label_step(A, y, Y):
    """Y_j = sum_i A[j, i] y_i / sum_i A[j, i] over labelled points; without weight on them it stays."""
    known = ~np.isnan(y).any(axis=1)
    return mean_step(A[:, known], y[known], Y)


# --- the loop -------------------------------------------------------------------------------------------


def schedule(start, end, n_epochs):
    """sigma_t = start (end / start)^(t / (n_epochs - 1)), t = 0 .. n_epochs - 1 >= 1."""
    return [start * (end / start) ** (t / (n_epochs - 1)) for t in range(n_epochs - 1)] + [end]


def squared_distances(X, W):
    """(N, K) squared Euclidean distances."""
    return ((X[:, None, :] - W[None, :, :]) ** 2).sum(axis=2)


def fit(
    weights,
    sigmas,
    start,
    *,
    D=None,
    X=None,
    m=None,
    y=None,
    beta=1.0,
    scale=1.0,
    Y=None,
    collisions="distinct",
    rng=None,
    settle=300,
):
    """Anneal over `sigmas`, then stay at the last one until nothing moves, or the cost falls no more: combinations of
    data that are not squared Euclidean may go round, and those of least cost are taken. Returns (prototypes, Y, costs).

    Median maps: D (N, N) and start (K,) indices. Relational maps: D and start (K, N) coefficients. Batch maps: X (N, M)
    and start (K, M) vectors. y (N, C) are label vectors, none by default; the first Y (K, C) are given, or the means of
    the assignment without labels.
    """
    N = len(X if D is None else D)
    m = np.ones(N) if m is None else np.asarray(m, float)
    y = np.empty((N, 0)) if y is None else y
    known = ~np.isnan(y).any(axis=1)

    w, costs, settling = np.array(start), [], []
    combined = X is None and w.ndim == 2

    def distances(w):
        if combined:
            return combination_distances(D, w)
        return D[:, w].astype(float) if X is None else squared_distances(X, w)

    def step(A, w):
        if combined:
            return combination_step(A, w)
        return median_step(A, D, w, collisions) if X is None else mean_step(A, X, w)

    if Y is None:
        share = (m[known, None] * y[known]).sum(axis=0) / m[known].sum()
        Y = label_step(weights(distances(w), sigmas[0], m)[0], y, np.tile(share, (len(w), 1)))
    for t in range(len(sigmas) + settle):
        G = distances(w)
        if collisions == "noise":
            G = G * (1 + NOISE * rng.random(G.shape))
        if beta < 1:
            G = with_labels(G, y, Y, beta, scale)
        A, cost = weights(G, sigmas[min(t, len(sigmas) - 1)], m)
        before, w = w, step(A, w)
        old, Y = Y, label_step(A, y, Y)
        costs.append(cost)
        if t < len(sigmas) - 1:
            continue
        if np.array_equal(before, w) and (beta == 1 or np.array_equal(old, Y)):
            break
        settling.append((cost, before, old))
        best = min(range(len(settling)), key=lambda s: settling[s][0])
        if len(settling) - 1 - best == PATIENCE and collisions != "noise":
            cost, w, Y = settling[best]
            costs.append(cost)
            break
    return w, Y, np.array(costs)


# --- the default of median maps: anneal combinations, then take data points -----------------------------


def fit_by_combinations(
    weights, sigmas, start, D, rng, *, m=None, y=None, beta=1.0, scale=1.0, lattice=None, order=0.12, settle=300
):
    """Anneal combinations of the data, take data points in their place, settle. Returns (w, Y, costs).

    rng : draws the order in which points are tried as exemplars.
    lattice : the (K, K) distances of a SOM's neurons, whose exemplars are exchanged and arranged and do not settle.
    """
    N, K = len(D), len(start)
    m = np.ones(N) if m is None else np.asarray(m, float)
    seen, own = (D, y) if beta == 1 else between_points(D, y, beta, scale)
    told = {"D": D, "m": m, "y": y, "beta": beta, "scale": scale, "settle": settle if lattice is None else 0}
    P, Y, costs = fit(weights, sigmas, np.eye(N)[start], **told)
    w = snap(combination_distances(D, P))
    if lattice is not None:
        w = exchange_and_arrange(seen, w, lattice, m, turns(N, rng), order, most=8 * K)
        G, settled = D[:, w], beta == 1
        Y = Y if settled else own[w]
        while not settled:
            G, before = with_labels(D[:, w], y, Y, beta, scale), Y
            Y = label_step(weights(G, sigmas[-1], m)[0], y, Y)
            settled = np.array_equal(before, Y)
        return w, Y, np.append(costs, weights(G, sigmas[-1], m)[1])
    w = exchange(seen, w, m, turns(N, rng))
    Y = Y if beta == 1 else own[w]
    w, Y, more = fit(weights, sigmas[-1:], w, Y=Y, **told)
    return w, Y, np.concatenate([costs, more])


def snap(G):
    """(K,) the data point nearest to each prototype that no prototype before it took."""
    w, free = np.empty(G.shape[1], int), np.ones(len(G), bool)
    for j in range(G.shape[1]):
        w[j] = np.where(free, G[:, j], np.inf).argmin()
        free[w[j]] = False
    return w


def turns(N, rng):
    """The points in the order in which they are tried: runs of neighbours in random order, at random within each."""
    within, runs = rng.random(N), rng.random(-(-N // RUN))
    return np.array(sorted(range(N), key=lambda i: (runs[i // RUN], within[i])))


def exchange(D, w, m, order, most=np.inf):
    """Lower sum_i m_i min_j D[i, w_j] by single swaps. Candidates take turns in their order (N,) and round again; the
    first that lowers the loss takes the place of the prototype for which it is lowest; ends after N without a swap."""
    N, w, swaps, idle, t = len(D), w.copy(), 0, 0, 0
    while idle < N and swaps < most:
        c = order[t % N]
        loss = (m * D[:, w].min(axis=1)).sum()
        after = [(m * D[:, np.append(np.delete(w, j), c)].min(axis=1)).sum() for j in range(len(w))]
        if c not in w and min(after) < loss * (1 - 4 * N * np.finfo(float).eps):
            w[np.argmin(after)] = c
            swaps, idle = swaps + 1, -1
        idle, t = idle + 1, t + 1
    return w


def map_parts(D, w, nd, m):
    """Q, t and r of the map's cost Q (1 + order (t + 1 - r)): quantization, topographic error, order from afar."""
    N, K = len(D), len(w)
    nearest = np.array([np.lexsort((w, D[i, w])) for i in range(N)])
    Q = (m * D[:, w].min(axis=1)).sum()
    t = np.average((nd[nearest[:, 0], nearest[:, 1]] > 1.2), weights=m) if K > 1 else 0.0
    field = nearest[:, 0]
    pairs = np.outer(m, m) * (field[:, None] != field)
    E, far = ((D + D.T) / 2)[np.ix_(w[field], w[field])], nd[np.ix_(field, field)]
    share = pairs / (pairs.sum() or 1.0)
    E, mean = E - (share * E).sum(), (share * E).sum()
    s_E, s_nd = np.sqrt((share * E**2).sum()), nd[~np.eye(K, dtype=bool)].std() if K > 2 else 0.0
    r = (share * E * far).sum() / (s_E * s_nd) if s_E > 1e-6 * mean and s_nd > 1e-9 else 0.0
    return Q, t, r


def exchange_and_arrange(D, w, nd, m, turn, order, most):
    """Lower Q (1 + order (t + 1 - r)) by single swaps, `most` at most, candidates as in `exchange`; when there is none
    left take the best of all arrangements, and so on. A swap must lower the cost also with the r of before."""
    K, swaps, ended = len(w), 0, False
    w = exchange(D, w, m, turn, most) if K == 1 else w
    while K > 1 and not ended:
        N, idle, at = len(D), 0, 0
        while idle < N and swaps < most:
            c = turn[at % N]
            Q, t, r = map_parts(D, w, nd, m)
            now, best = Q * (1 + order * max(t + 1 - r, 0)) * (1 - 1e-12), None
            for j in range(K) if c not in w else ():
                other = w.copy()
                other[j] = c
                Q, t, later = map_parts(D, other, nd, m)
                J = Q * (1 + order * max(t + 1 - later, 0))
                if Q * (1 + order * max(t + 1 - r, 0)) < now and J < (now if best is None else best[0]):
                    best = J, other
            if best is not None:
                w, swaps, idle = best[1], swaps + 1, -1
            idle, at = idle + 1, at + 1
        orders = [np.array(p) for p in permutations(w)]
        costs = [t - r for _, t, r in (map_parts(D, p, nd, m) for p in orders)]
        ended = min(costs) > costs[0] - 1e-9 or idle < N
        w = orders[int(np.argmin(costs))] if min(costs) < costs[0] - 1e-9 else w
    return w
