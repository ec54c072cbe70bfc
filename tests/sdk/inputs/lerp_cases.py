def lerp_cases():
    for t in FLOATS:
        for shape in SIZES:
            a, b, w = data(t, shape), data(t, shape), data("f32", (1, shape[1]), "moderate")
            x, y, z = (el.decode(u, v).astype(np.float32) for u, v in ((t, a), (t, b), ("f32", w)))
            with np.errstate(all="ignore"):
                want = el.encode(t, (x + (y - x) * z).astype(np.float64).ravel()).reshape(shape)
            d = Tile(t, data(t, shape))
            case("tlerp", f"{t} {shape}", d, [Tile(t, a), Tile(t, b), Tile("f32", w)], d.with_valid(want))


