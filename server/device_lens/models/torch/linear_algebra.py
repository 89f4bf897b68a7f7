"""Products, decompositions and solvers: `torch` and `torch.linalg`."""

from __future__ import annotations

from device_lens.models.table import register

TABLE = """
(@input, @other) -> product.keep
    matmul
(@input, @mat2, *, out_dtype) -> matrix.keep
    mm bmm
(@input, @vec) -> vector.keep
    mv
(@input, @tensor) -> none.keep
    dot
(@input, @other) -> none.keep
    vdot
(@input, @other) -> any.keep
    inner
(@input, @vec2) -> outer.keep
    outer ger
(@input, @other) -> any.promote
    kron
(@input, @mat1, @mat2, *, beta, alpha, out_dtype) -> added.keep
    addmm sspaddmm _addmm_activation
(@input, @mat, @vec, *, beta, alpha) -> some.keep
    addmv
(@input, @vec1, @vec2, *, beta, alpha) -> some.keep guests=input
    addr
(@input, @batch1, @batch2, *, beta, alpha, out_dtype) -> added.keep
    baddbmm
(@input, @batch1, @batch2, *, beta, alpha) -> some.keep
    addbmm
(...@matrices) -> any.keep
    chain_matmul
(@a, @b, dims) -> any.keep
    tensordot
(equation, ...@operands) -> einsum.promote
    einsum
(@input, @other, dim) -> broadcast.promote
    cross
(@input, @other, p) -> any.float scalars
    dist
(@x1, @x2, p, compute_mode) -> distances.keep
    cdist
(@input, p) -> line.keep
    pdist
(@input) -> any.keep
    trace det logdet
(@input) -> (sign=any.keep, logabsdet=any.keep)
    slogdet
(@input) -> some.keep
    inverse matrix_exp
(@input, n) -> same.keep
    matrix_power
(@input, rcond, hermitian) -> some.keep
    pinverse
(@input, upper) -> same.keep
    cholesky cholesky_inverse
(@input, @input2, upper) -> some.keep
    cholesky_solve
(@input, some) -> (Q=some.keep, R=some.keep)
    qr
(@input) -> (a=some.keep, tau=some.keep)
    geqrf
(@input, some, compute_uv) -> (U=some.keep, S=some.real, V=some.keep)
    svd
(@input, @tau) -> some.keep
    orgqr
(@input, @tau, @other, left, transpose) -> some.keep
    ormqr
(@input, @LU_data, @LU_pivots) -> some.keep
    lu_solve
(@LU_data, @LU_pivots, unpack_data, unpack_pivots) \
-> (P=some.keep!, L=some.keep, U=some.keep)
    lu_unpack
(@b, @A, upper, transpose, unitriangular) \
-> (solution=some.keep, cloned_coefficient=some.keep)
    triangular_solve
(@input, p, dim, maxnorm) -> same.keep
    renorm
(@input, q, center, niter, @M) -> (=some.keep, =some.keep, =some.keep)
    svd_lowrank
(@A, q, center, niter) -> (=some.keep, =some.keep, =some.keep)
    pca_lowrank
(@A, k, @B, @X, n, @iK, niter, tol, largest, method, tracker, ortho_iparams) \
-> (=some.keep, =some.keep)
    lobpcg
"""

LINALG = """
(@A, *, upper) -> some.keep
    cholesky
(@A, *, upper, check_errors) -> (L=some.keep, info=any.int32)
    cholesky_ex
(@A, p) -> any.real
    cond
(@input, @other, *, dim) -> broadcast.promote
    cross
(@A) -> any.keep
    det
(@A, *, offset, dim1, dim2) -> some.keep
    diagonal
(@A) -> (eigenvalues=some.complex, eigenvectors=some.complex)
    eig
(@A, UPLO) -> (eigenvalues=some.real, eigenvectors=some.keep)
    eigh
(@A) -> some.complex
    eigvals
(@A, UPLO) -> some.real
    eigvalsh
(@A, @tau) -> some.keep
    householder_product
(@A) -> some.keep
    inv matrix_exp
(@A, *, check_errors) -> (inverse=some.keep, info=any.int32)
    inv_ex
(@A, *, hermitian) -> (LD=some.keep, pivots=some.int32)
    ldl_factor
(@A, *, hermitian, check_errors) -> (LD=some.keep, pivots=some.int32, info=any.int32)
    ldl_factor_ex
(@LD, @pivots, @B, *, hermitian) -> some.keep
    ldl_solve
(@A, @B, rcond, *, driver) \
-> (solution=some.keep, residuals=any.real, rank=any.int64, singular_values=any.real!)
    lstsq
(@A, *, pivot) -> (P=some.keep!, L=some.keep, U=some.keep)
    lu
(@A, *, pivot) -> (LU=some.keep, pivots=some.int32)
    lu_factor
(@A, *, pivot, check_errors) -> (LU=some.keep, pivots=some.int32, info=any.int32)
    lu_factor_ex
(@LU, @pivots, @B, *, left, adjoint) -> some.keep
    lu_solve
(@input, @other) -> product.keep
    matmul
(@A, ord, dim, keepdim, *, dtype) -> any.real
    matrix_norm norm
(@input, ord, dim, keepdim, *, dtype) -> reduced.real
    vector_norm
(@A, n) -> same.keep
    matrix_power
(@A, @atol, @rtol, hermitian, *, tol) -> any.int64 scalars
    matrix_rank
(@tensors) -> any.keep
    multi_dot
(@A, @atol, @rtol, hermitian, *, rcond) -> some.keep
    pinv
(@A, mode) -> (Q=some.keep, R=some.keep)
    qr
(@A) -> (sign=any.keep, logabsdet=any.real)
    slogdet
(@A, @B, *, left) -> some.keep
    solve
(@A, @B, *, left, check_errors) -> (result=some.keep, info=any.int32)
    solve_ex
(@A, @B, *, upper, left, unitriangular) -> some.keep
    solve_triangular
(@A, full_matrices, *, driver) -> (U=some.keep, S=some.real, Vh=some.keep)
    svd
(@A, *, driver) -> some.real
    svdvals
(@A, ind) -> any.keep
    tensorinv
(@A, @B, dims) -> any.keep
    tensorsolve
(@x, *, N) -> some.keep
    vander
(@x, @y, *, dim) -> any.promote
    vecdot
"""


def register_all() -> None:
    register(TABLE, "torch")
    register(LINALG, "torch.linalg")
