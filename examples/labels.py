"""A few labels guide a map of strings; the report says what to label next."""

from medianmap import MedianKMeans, PrototypeClassifier, label_report

words = ["heron", "herons", "hero", "herring", "quark", "quarks", "quart", "quartz", "sparrow", "sparrows", "arrow"]
kinds = ["bird", None, None, None, "thing", None, None, None, "bird", None, "thing"]

clf = PrototypeClassifier(MedianKMeans(4, metric="edit", n_init=10, random_state=0)).fit(words, kinds)
report = label_report(clf, words, kinds, n_points=2)
for row in report.prototypes:
    exemplar = clf.estimator_.cluster_centers_[row["prototype"]]
    print(f"{exemplar:10s} {row['label']}, {row['share']:.0%} of {row['hits']:.0f} words")
print("herons are", clf.predict(["herons"])[0])
print("label next:", [words[i] for i in report.next["point"]])
