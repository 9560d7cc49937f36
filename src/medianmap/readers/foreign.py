"""What people have that is no format here, by the ending of its name, and how it becomes one."""

from __future__ import annotations

# What the file holds, and what to do: the end of a sentence.
ADVICE = {
    (".nwk", ".newick", ".tree", ".tre", ".treefile"):
        "a tree; write the distances between its leaves as a matrix (in R ape::cophenetic.phylo)",
    (".nex", ".nexus"): "NEXUS; write its distances as a PHYLIP or CSV matrix, or its sequences as FASTA",
    (".gb", ".gbk", ".genbank", ".embl", ".gff", ".gff3"):
        "annotated sequences; write them as FASTA (in Python Bio.SeqIO.convert)",
    (".sto", ".stockholm", ".aln", ".clustal", ".msf"):
        "an alignment; write it as FASTA (in Python Bio.AlignIO.convert)",
    (".sam", ".bam", ".cram"): "aligned reads; write them as FASTQ (samtools fastq)",
    (".vcf", ".bcf", ".ped", ".bed"):
        "variants; write the distances of the samples as a matrix (plink --distance square)",
    (".mgf", ".msp", ".mzml", ".mzxml", ".mzdata"):
        "spectra; write them as CSV, a line of intensities on common m/z for each, or their dissimilarities as a "
        "matrix (in Python with matchms)",
    (".smi", ".smiles", ".sdf", ".mol", ".mol2"):
        "molecules; write their fingerprints, or their dissimilarities, as CSV (in Python with RDKit)",
    (".pdb", ".cif", ".mmcif"):
        "a structure; write the dissimilarities of the structures as a matrix or as pairs (Foldseek, TM-align)",
    (".mat", ".rds", ".rda", ".rdata", ".sav", ".dta", ".sas7bdat"):
        "data of another program; save the table or matrix there as CSV",
    (".pkl", ".pickle", ".joblib", ".pt"):
        "a pickle, which could run any code and is not read; save the array in Python with numpy.save",
    (".feather", ".arrow", ".json", ".jsonl", ".xml", ".html", ".htm"):
        "no text in lines and columns; write the table or the matrix as CSV",
    (".pdf", ".doc", ".docx", ".png", ".jpg", ".jpeg", ".svg"):
        "a document or a picture; pass the file with the data themselves",
    (".zip", ".tar", ".tgz", ".bz2", ".xz", ".zst", ".7z", ".rar"):
        "packed files; unpack them first (only .gz is read as it is)",
}  # fmt: skip
FOREIGN = {ending: advice for endings, advice in ADVICE.items() for ending in endings}
